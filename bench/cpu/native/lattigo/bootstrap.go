package main

import (
	"bufio"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/tuneinsight/lattigo/v6/circuits/ckks/bootstrapping"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/ring"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// CPU seconds of the process, with those of the garbage collector.
func processSeconds() float64 {
	var used syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	total := used.Utime.Nano() + used.Stime.Nano()
	return float64(total) * 1e-9
}

func numbers(word string) []int {
	var found []int
	for _, each := range strings.Split(word, ",") {
		found = append(found, value(strconv.Atoi(each)))
	}
	return found
}

// Levels of one scale each, as Lattigo takes those of a transform.
func levels(bits []int) [][]int {
	var found [][]int
	for _, each := range bits {
		found = append(found, []int{each})
	}
	return found
}

// Bootstraps complex numbers of magnitudes up to 1 in all slots, with a dense ternary secret.
//
// Arguments: log2 N; then bits, with commas: of the primes that programs have, of SlotsToCoeffs, of
// CoeffsToSlots, and of the special primes. The scale is that of the second prime. Standard input
// asks for seconds (bootstraps once), worst and rms (errors of the last result), levels (of
// multiplications that are left) or gigabytes (the heap after garbage collection).
func bootstrap(arguments []string) {
	logN := value(strconv.Atoi(arguments[0]))
	data, special := numbers(arguments[1]), numbers(arguments[4])
	params := value(ckks.NewParametersFromLiteral(ckks.ParametersLiteral{
		LogN:            logN,
		LogQ:            data,
		LogP:            special,
		Xs:              ring.Ternary{H: 1 << (logN - 1)},
		LogDefaultScale: data[1],
	}))
	own := value(bootstrapping.NewParametersFromLiteral(params, bootstrapping.ParametersLiteral{
		LogN: &logN,
		LogP: special,
		Xs:   params.Xs(),
		SlotsToCoeffsFactorizationDepthAndLogScales: levels(numbers(arguments[2])),
		CoeffsToSlotsFactorizationDepthAndLogScales: levels(numbers(arguments[3])),
	}))
	secret := rlwe.NewKeyGenerator(params).GenSecretKeyNew()
	keys, _, err := own.GenEvaluationKeys(secret)
	must(err)
	evaluator := value(bootstrapping.NewEvaluator(own, keys))
	encoder := ckks.NewEncoder(params)
	random := rand.New(rand.NewSource(1))
	given := make([]complex128, params.MaxSlots())
	for i := range given {
		given[i] = complex(2*random.Float64()-1, 2*random.Float64()-1) / complex(math.Sqrt2, 0)
	}
	plain := ckks.NewPlaintext(params, 0)
	must(encoder.Encode(given, plain))
	input := value(rlwe.NewEncryptor(params, secret).EncryptNew(plain))
	decryptor := rlwe.NewDecryptor(params, secret)
	worst, squares, left := 0.0, 0.0, 0
	work := map[string]func() float64{
		"seconds": func() float64 {
			copied := input.CopyNew()
			begin := processSeconds()
			output := value(evaluator.Bootstrap(copied))
			seconds := processSeconds() - begin
			found := make([]complex128, params.MaxSlots())
			must(encoder.Decode(decryptor.DecryptNew(output), found))
			worst, squares, left = 0, 0, output.Level()
			for i := range found {
				distance := cmplx.Abs(found[i] - given[i])
				worst = max(worst, distance)
				squares += distance * distance
			}
			return seconds
		},
		"worst":  func() float64 { return worst },
		"rms":    func() float64 { return math.Sqrt(squares / float64(len(given))) },
		"levels": func() float64 { return float64(left) },
		"gigabytes": func() float64 {
			runtime.GC()
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			return float64(memory.HeapAlloc) / 1e9
		},
	}
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(work[lines.Text()]())
	}
}
