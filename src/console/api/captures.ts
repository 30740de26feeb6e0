import * as z from "zod/mini";
import { call, send } from "./client.ts";
import { anything, flag, number, text } from "./fields.ts";

const headers = z._default(z.record(z.string(), z.string()), {});

const fields = {
  id: z.string(),
  at: number,
  duration_ms: number,
  request_id: text,
  chain_key: text,
  label: text,
  method: text,
  url: text,
  status: number,
  outcome: text,
  error: text,
  request_headers: headers,
  response_headers: headers,
  response_bytes: number,
  truncated: flag,
};

const summary = z.object(fields);

/** One exchange with the provider, in the list. Times are Unix milliseconds. */
export type CaptureSummary = z.output<typeof summary>;

const list = z.object({ enabled: flag, limit: number, max_body_bytes: number, items: z.array(summary) });

const capture = z.object({ ...fields, request_body: text, response_body: text });
export type Capture = z.output<typeof capture>;

export const listCaptures = (signal?: AbortSignal) =>
  call(list, "/admin/dev/captures", signal === undefined ? {} : { signal });

/** Lists the captures of one request, in the order of their start. */
export async function capturesOf(request: string, signal?: AbortSignal): Promise<CaptureSummary[]> {
  const { items } = await listCaptures(signal);
  return items.filter(({ request_id }) => request_id === request).sort((one, other) => one.at - other.at);
}

export const readCapture = (id: string, signal?: AbortSignal) =>
  call(capture, `/admin/dev/captures/${encodeURIComponent(id)}`, signal === undefined ? {} : { signal });

export const clearCaptures = () => call(anything, "/admin/dev/captures", { method: "DELETE" });

const round = z.object({ label: text, status: number });
const sample = z.object({
  sample_id: z.string(),
  saved_at: number,
  provider: text,
  rounds: z._default(z.array(round), []),
});

/** A raw upstream stream that an administrator saved. */
export type Sample = z.output<typeof sample>;

const samples = z.object({ items: z.array(sample) });

const samplePath = (id: string) => `/admin/dev/raw-samples/${encodeURIComponent(id)}`;

export async function listSamples(signal?: AbortSignal): Promise<Sample[]> {
  return (await call(samples, "/admin/dev/raw-samples", signal === undefined ? {} : { signal })).items;
}

/** Reads a sample as JSON text, in the format of the replay tool. */
export async function readSample(id: string): Promise<string> {
  return (await send(samplePath(id))).text();
}

export const deleteSample = (id: string) => call(anything, samplePath(id), { method: "DELETE" });

const saved = z.object({ sample_id: text });

/** Saves the rounds of one generation as a sample. */
export const saveSample = (chain_key: string) =>
  call(saved, "/admin/dev/raw-samples/save", { method: "POST", body: { chain_key } });

/** Sends one message and saves the upstream's raw response. Returns the sample's id. */
export async function captureSample(message: string): Promise<string> {
  const body = { message, stream: true };
  const response = await send("/admin/dev/raw-samples/capture", { method: "POST", body });
  await response.text();
  return response.headers.get("x-gateway-sample-id") ?? "";
}
