// Runs a program of a Ringsmith service on encrypted numbers, by Microsoft SEAL in WebAssembly.
//
//   node client.js http://127.0.0.1:8000 score x=0.5,-0.25,0.125,1
//
// The secret key never leaves this process. docs/guide/javascript.md explains each step.

import SEAL from 'node-seal'

const SEAL_VERSION = '4.1' // of node-seal 7: SEAL 4.1 reads files of 4.1 only
const PIECE_BYTES = 8 << 20
const [url, name, ...assignments] = process.argv.slice(2)
const seal = await SEAL()

// ---- requests ----------------------------------------------------------------------------------

async function request(method, path, { headers, ...options } = {}) {
  const token = process.env.RINGSMITH_TOKEN
  const authorization = token ? { Authorization: `Bearer ${token}` } : {}
  const answer = await fetch(url + path, { method, headers: { ...authorization, ...headers }, ...options })
  if (answer.ok) return answer
  const problem = await answer.json()
  throw new Error(`${answer.status} ${problem.code}: ${problem.detail ?? problem.message}`)
}

const json = async (path) => (await request('GET', path)).json()
const bytes = async (path) => new Uint8Array(await (await request('GET', path)).arrayBuffer())

// ---- parameters and keys -----------------------------------------------------------------------

/** The server names the parameters, so this client refuses those below 128-bit security. */
async function makeContext() {
  const parameters = new seal.EncryptionParameters(seal.SchemeType.none)
  const path = `/v1/programs/${name}/parameters?seal=${SEAL_VERSION}`
  parameters.loadFromArray(await bytes(path))
  const level = seal.SecLevelType.tc128
  const context = new seal.SEALContext(parameters, true, level)
  if (!context.parametersSet()) {
    throw new Error(`the parameters of ${name} are below 128-bit security`)
  }
  return context
}

/** Steps of rotations from Galois elements: element = 3^steps mod 2N, and 2N - 1 is SEAL's step 0. */
function rotationSteps(elements, n) {
  const steps = new Map([[2 * n - 1, 0]])
  for (let step = 0, element = 1; step < n / 2; step++, element = (element * 3) % (2 * n)) {
    if (step > 0) steps.set(element, step)
  }
  return Int32Array.from(elements, (element) => steps.get(element))
}

/** Sends evaluation keys in pieces; returns their SHA-256, by which a run names them. */
async function putKeys(kind, data) {
  const digest = Buffer.from(await crypto.subtle.digest('SHA-256', data)).toString('hex')
  for (let first = 0; first < data.length; first += PIECE_BYTES) {
    const piece = data.subarray(first, first + PIECE_BYTES)
    await request('PUT', `/v1/programs/${name}/keys/${digest}`, {
      body: piece,
      headers: {
        'Content-Type': `application/x-seal-${kind}-keys`,
        'Content-Range': `bytes ${first}-${first + piece.length - 1}/${data.length}`,
      },
    })
  }
  return digest
}

/** Makes and sends the keys that the program needs; their seeds take the place of half of each. */
async function sendKeys(keyGenerator, description) {
  const digests = []
  const compressed = seal.ComprModeType.zstd
  if (description.keys.relinearization) {
    const keys = keyGenerator.createRelinKeysSerializable()
    digests.push(await putKeys('relin', keys.saveToArray(compressed)))
  }
  if (description.keys.galois_elements.length) {
    const steps = rotationSteps(description.keys.galois_elements, description.n)
    const keys = keyGenerator.createGaloisKeysSerializableWithSteps(steps)
    digests.push(await putKeys('galois', keys.saveToArray(compressed)))
  }
  return digests
}

// ---- numbers -----------------------------------------------------------------------------------

/** The numbers of each port of an input, in all of its slots; an array's are given row by row. */
function laidOut(input, numbers) {
  const array = arrays.inputs[input]
  if (!array) {
    if (description.inputs[input]) return { [input]: numbers }
    const names = new Set([...Object.keys(arrays.inputs), ...Object.keys(description.inputs)])
    throw new Error(`${name} has the inputs ${[...names]}, and not ${input}`)
  }
  const size = array.shape.reduce((product, length) => product * length, 1)
  if (numbers.length !== size) {
    throw new Error(`${input} has the shape (${array.shape}), and ${numbers.length} numbers were given`)
  }
  const slots = description.scheme === 'bfv' ? description.n : description.n / 2
  return Object.fromEntries(array.ports.map((port, i) => {
    const table = array.table.slice(i * array.slots, (i + 1) * array.slots)
    const row = table.map((position) => (position ? numbers[position - 1] : 0))
    return [port, Array.from({ length: slots }, (_, slot) => row[slot % row.length])]
  }))
}

/** The numbers of each output, an array's row by row, from the slots of all ports. */
function gathered(slots) {
  const found = { ...slots }
  for (const [output, array] of Object.entries(arrays.outputs)) {
    const every = array.ports.flatMap((port) => slots[port].slice(0, array.slots))
    for (const port of array.ports) delete found[port]
    found[output] = array.table.map((position) => (position ? every[position - 1] : 0))
  }
  return found
}

/** Encrypts numbers at the limbs and the scale of the input; zeros fill the other slots. */
function encrypt(context, keyGenerator, exact, numbers, port) {
  const plaintext = new seal.Plaintext()
  if (exact) new seal.BatchEncoder(context).encode(BigInt64Array.from(numbers, BigInt), plaintext)
  else new seal.CKKSEncoder(context).encode(Float64Array.from(numbers, Number), port.scale, plaintext)
  const ciphertext = new seal.Ciphertext()
  new seal.Encryptor(context, keyGenerator.createPublicKey()).encrypt(plaintext, ciphertext)
  const evaluator = new seal.Evaluator(context)
  while (ciphertext.coeffModulusSize() > port.limbs) {
    evaluator.cipherModSwitchToNextInplace(ciphertext)
  }
  return ciphertext.saveToArray(seal.ComprModeType.zstd)
}

function decrypt(context, keyGenerator, exact, data, port) {
  const ciphertext = new seal.Ciphertext()
  ciphertext.loadFromArray(context, data)
  const plaintext = new seal.Plaintext()
  new seal.Decryptor(context, keyGenerator.secretKey()).decrypt(ciphertext, plaintext)
  const slots = exact
    ? new seal.BatchEncoder(context).decodeBigInt64(plaintext)
    : new seal.CKKSEncoder(context).decodeFloat64(plaintext)
  return Array.from(slots.slice(0, port.length), Number)
}

// ---- a run -------------------------------------------------------------------------------------

const description = await json(`/v1/programs/${name}`)
const arrays = await json(`/v1/programs/${name}/arrays`)
const exact = description.scheme === 'bfv'
const context = await makeContext()
const keyGenerator = new seal.KeyGenerator(context)

const form = new FormData()
form.set('revision', description.revision)
form.set('keys', (await sendKeys(keyGenerator, description)).join(','))
for (const assignment of assignments) {
  const [input, numbers] = assignment.split('=')
  for (const [port, each] of Object.entries(laidOut(input, numbers.split(',')))) {
    const data = encrypt(context, keyGenerator, exact, each, description.inputs[port])
    form.set(port, new Blob([data]))
  }
}

const submitted = await request('POST', `/v1/programs/${name}/runs`, {
  body: form,
  headers: { Prefer: 'respond-async', 'Idempotency-Key': crypto.randomUUID() },
})
let job = await submitted.json()
while (job.state === 'waiting' || job.state === 'running') {
  job = await json(`/v1/jobs/${job.id}?wait=30`)
}
if (job.state !== 'done') throw new Error(`${job.state}: ${job.message}`)

const results = {}
for (const [output, { href }] of Object.entries(job.outputs)) {
  const data = await bytes(`${href}?seal=${SEAL_VERSION}`)
  const port = description.outputs[output]
  results[output] = decrypt(context, keyGenerator, exact, data, port)
}
for (const [output, numbers] of Object.entries(gathered(results))) {
  console.log(output, numbers.join(' '))
}
await request('DELETE', `/v1/jobs/${job.id}`)
