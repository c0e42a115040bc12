/** Calls of the simulator's module: bindings/playground/src/border.rs. In JavaScript, since tests in Node call it as well. */

/** @typedef {"check" | "run"} Call */
/** @typedef {import("./answer.ts").Request} Request */

/**
 * Gives a function that asks the simulator and gives its answer, which is JSON.
 * @param {WebAssembly.Module} module
 * @param {(share: number) => void} progress
 * @returns {Promise<(call: Call, request: Request) => string>}
 */
export async function instantiate(module, progress) {
  const { exports } = await WebAssembly.instantiate(module, { tidemark: { progress } });
  const { memory } = /** @type {{ memory: WebAssembly.Memory }} */ (/** @type {unknown} */ (exports));
  const simulator = /** @type {Record<string, (...numbers: number[]) => number>} */ (/** @type {unknown} */ (exports));
  /** @param {string} name @param {number[]} numbers */
  const call = (name, ...numbers) => simulator[`tidemark_${name}`]?.(...numbers) ?? 0;
  return (question, request) => {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    const at = call("room", bytes.length);
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    const answer = call(question, at, bytes.length);
    const json = new TextDecoder().decode(new Uint8Array(memory.buffer, call("answer", answer), call("answer_length", answer)));
    call("free", answer);
    return json;
  };
}
