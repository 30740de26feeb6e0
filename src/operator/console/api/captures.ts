import { callApi, sendTo } from "./client.ts";
import type { AnswerOf } from "./endpoints.ts";

/** One exchange with the provider, in the list. Times are Unix milliseconds. */
export type CaptureSummary = AnswerOf<"GET /admin/dev/captures">["items"][number];
export type Capture = AnswerOf<"GET /admin/dev/captures/:id">;
/** A raw upstream stream that an administrator saved. */
export type Sample = AnswerOf<"GET /admin/dev/raw-samples">["items"][number];

export const listCaptures = (signal?: AbortSignal) => callApi("GET /admin/dev/captures", { signal });

/** Lists the captures of one request, in the order of their start. */
export async function listCapturesOfRequest(
  request: string,
  signal?: AbortSignal,
): Promise<CaptureSummary[]> {
  const { items } = await listCaptures(signal);
  return items.filter(({ request_id }) => request_id === request).sort((a, b) => a.at - b.at);
}

export const readCapture = (id: string, signal?: AbortSignal) =>
  callApi("GET /admin/dev/captures/:id", { params: { id }, signal });

export const clearCaptures = () => callApi("DELETE /admin/dev/captures");

export async function listSamples(signal?: AbortSignal): Promise<Sample[]> {
  return (await callApi("GET /admin/dev/raw-samples", { signal })).items;
}

/** Reads a sample as JSON text, in the format of the replay tool. */
export async function readSample(id: string): Promise<string> {
  return (await sendTo("GET /admin/dev/raw-samples/:sample_id", { params: { sample_id: id } })).text();
}

export const deleteSample = (id: string) =>
  callApi("DELETE /admin/dev/raw-samples/:sample_id", { params: { sample_id: id } });

/** Saves the rounds of one generation as a sample. */
export const saveSample = (chain_key: string) =>
  callApi("POST /admin/dev/raw-samples/save", { body: { chain_key } });

/** Sends one message and saves the upstream's raw response. Returns the sample's id. */
export async function captureSample(message: string): Promise<string> {
  const response = await sendTo("POST /admin/dev/raw-samples/capture", { body: { message, stream: true } });
  await response.text();
  return response.headers.get("x-gateway-sample-id") ?? "";
}
