// Times Lattigo's CKKS operations for ringsmith bench cpu, and its bootstrapping.
//
// Arguments: log2 N, the number of special primes, then the primes, data primes first; or the word
// bootstrap and those of bootstrap.go. On standard input one operation's name a line; on standard
// output, for each, the CPU seconds that doing it once took this thread.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

const rotation = 1

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func value[T any](result T, err error) T {
	must(err)
	return result
}

// CPU seconds of the calling thread (clock_gettime, CLOCK_THREAD_CPUTIME_ID).
func threadSeconds() float64 {
	var now syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 3, uintptr(unsafe.Pointer(&now)), 0)
	if errno != 0 {
		must(errno)
	}
	return float64(now.Sec) + float64(now.Nsec)*1e-9
}

func main() {
	runtime.GOMAXPROCS(1)
	runtime.LockOSThread()
	if os.Args[1] == "bootstrap" {
		bootstrap(os.Args[2:])
		return
	}
	logN := value(strconv.Atoi(os.Args[1]))
	special := value(strconv.Atoi(os.Args[2]))
	var primes []uint64
	for _, word := range os.Args[3:] {
		primes = append(primes, value(strconv.ParseUint(word, 10, 64)))
	}
	params := value(ckks.NewParametersFromLiteral(ckks.ParametersLiteral{
		LogN:            logN,
		Q:               primes[:len(primes)-special],
		P:               primes[len(primes)-special:],
		LogDefaultScale: 20,
	}))
	generator := rlwe.NewKeyGenerator(params)
	secret := generator.GenSecretKeyNew()
	keys := rlwe.NewMemEvaluationKeySet(
		generator.GenRelinearizationKeyNew(secret),
		generator.GenGaloisKeyNew(params.GaloisElement(rotation), secret))
	evaluator := ckks.NewEvaluator(params, keys)
	encryptor := rlwe.NewEncryptor(params, secret)
	plain := ckks.NewPlaintext(params, params.MaxLevel())
	must(ckks.NewEncoder(params).Encode([]float64{0.5}, plain))
	a := value(encryptor.EncryptNew(plain))
	b := value(encryptor.EncryptNew(plain))
	out := ckks.NewCiphertext(params, 1, params.MaxLevel())
	three := ckks.NewCiphertext(params, 2, params.MaxLevel())
	work := map[string]func() error{
		"multiply_relinearize": func() error { return evaluator.MulRelin(a, b, out) },
		"rotate":               func() error { return evaluator.Rotate(a, rotation, out) },
		"rescale":              func() error { return evaluator.Rescale(a, out) },
		"multiply":             func() error { return evaluator.Mul(a, b, three) },
		"multiply_plain":       func() error { return evaluator.Mul(a, plain, out) },
		"add":                  func() error { return evaluator.Add(a, b, out) },
	}
	// A rescaled ciphertext has a large enough scale to be divided, and operations set out's level.
	a.Scale = rlwe.NewScale(float64(primes[len(primes)-special-1]) * 1048576)
	b.Scale = a.Scale
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		out.Resize(1, params.MaxLevel())
		begin := threadSeconds()
		err := work[lines.Text()]()
		seconds := threadSeconds() - begin
		must(err)
		fmt.Println(seconds)
	}
}
