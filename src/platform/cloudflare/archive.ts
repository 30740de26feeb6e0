import type { Archive } from "../archive.ts";
import type { Env } from "./env.ts";

/** The archive of a deployment: one object behind the binding `HISTORY`. */
export function cloudflareArchive(env: Env): Archive {
  // A stub that has seen its object restart fails for ever: each call gets a new one.
  const object = () => env.HISTORY.getByName("main");
  return {
    write: (batch) => object().write(batch),
    retain: (retention) => object().retain(retention),
    listHistory: (query) => object().listHistory(query),
    readHistory: (id) => object().readHistory(id),
    deleteHistory: (id) => object().deleteHistory(id),
    clearHistory: () => object().clearHistory(),
    listCaptures: () => object().listCaptures(),
    readCapture: (id) => object().readCapture(id),
    clearCaptures: () => object().clearCaptures(),
    chains: (q, limit) => object().chains(q, limit),
    saveSample: (selector, sampleId, provider) => object().saveSample(selector, sampleId, provider),
    listSamples: () => object().listSamples(),
    readSample: (sampleId) => object().readSample(sampleId),
    deleteSample: (sampleId) => object().deleteSample(sampleId),
    metrics: () => object().metrics(),
  };
}
