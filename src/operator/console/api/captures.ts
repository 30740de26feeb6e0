import * as z from "zod/mini";
import { callApi, sendRequest } from "./client.ts";
import { booleanField, ignoredResponse, numberField, textField } from "./fields.ts";

const headers = z._default(z.record(z.string(), z.string()), {});

const fields = {
  id: z.string(),
  at: numberField,
  duration_ms: numberField,
  request_id: textField,
  chain_key: textField,
  label: textField,
  method: textField,
  url: textField,
  status: numberField,
  outcome: textField,
  error: textField,
  request_headers: headers,
  response_headers: headers,
  response_bytes: numberField,
  truncated: booleanField,
};

const summary = z.object(fields);

/** One exchange with the provider, in the list. Times are Unix milliseconds. */
export type CaptureSummary = z.output<typeof summary>;

const list = z.object({
  enabled: booleanField,
  limit: numberField,
  max_body_bytes: numberField,
  items: z.array(summary),
});

const capture = z.object({ ...fields, request_body: textField, response_body: textField });
export type Capture = z.output<typeof capture>;

export const listCaptures = (signal?: AbortSignal) =>
  callApi(list, "/admin/dev/captures", signal === undefined ? {} : { signal });

/** Lists the captures of one request, in the order of their start. */
export async function listCapturesOfRequest(
  request: string,
  signal?: AbortSignal,
): Promise<CaptureSummary[]> {
  const { items } = await listCaptures(signal);
  return items.filter(({ request_id }) => request_id === request).sort((a, b) => a.at - b.at);
}

export const readCapture = (id: string, signal?: AbortSignal) =>
  callApi(capture, `/admin/dev/captures/${encodeURIComponent(id)}`, signal === undefined ? {} : { signal });

export const clearCaptures = () => callApi(ignoredResponse, "/admin/dev/captures", { method: "DELETE" });

const round = z.object({ label: textField, status: numberField });
const sample = z.object({
  sample_id: z.string(),
  saved_at: numberField,
  provider: textField,
  rounds: z._default(z.array(round), []),
});

/** A raw upstream stream that an administrator saved. */
export type Sample = z.output<typeof sample>;

const samples = z.object({ items: z.array(sample) });

const samplePath = (id: string) => `/admin/dev/raw-samples/${encodeURIComponent(id)}`;

export async function listSamples(signal?: AbortSignal): Promise<Sample[]> {
  return (await callApi(samples, "/admin/dev/raw-samples", signal === undefined ? {} : { signal })).items;
}

/** Reads a sample as JSON text, in the format of the replay tool. */
export async function readSample(id: string): Promise<string> {
  return (await sendRequest(samplePath(id))).text();
}

export const deleteSample = (id: string) => callApi(ignoredResponse, samplePath(id), { method: "DELETE" });

const saved = z.object({ sample_id: textField });

/** Saves the rounds of one generation as a sample. */
export const saveSample = (chain_key: string) =>
  callApi(saved, "/admin/dev/raw-samples/save", { method: "POST", body: { chain_key } });

/** Sends one message and saves the upstream's raw response. Returns the sample's id. */
export async function captureSample(message: string): Promise<string> {
  const body = { message, stream: true };
  const response = await sendRequest("/admin/dev/raw-samples/capture", { method: "POST", body });
  await response.text();
  return response.headers.get("x-gateway-sample-id") ?? "";
}
