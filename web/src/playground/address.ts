/** A scenario as a part of the page's address, compressed. */

import type { Request } from "./answer.ts";

const through = async (bytes: Uint8Array<ArrayBuffer>, stream: ReadableWritablePair<Uint8Array<ArrayBuffer>, BufferSource>): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

/** Gives the fragment that [`read`](read) takes. */
export async function write(request: Request): Promise<string> {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(request)), new CompressionStream("deflate-raw"));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Gives the scenario of a fragment; null for another fragment. */
export async function read(fragment: string): Promise<Request | null> {
  try {
    const packed = atob(fragment.replace(/^#/, "").replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await through(Uint8Array.from(packed, (character) => character.charCodeAt(0)), new DecompressionStream("deflate-raw"));
    const request = JSON.parse(new TextDecoder().decode(bytes)) as Partial<Request>;
    return typeof request.text === "string" && Array.isArray(request.set) ? { text: request.text, set: request.set.map(String) } : null;
  } catch {
    return null;
  }
}
