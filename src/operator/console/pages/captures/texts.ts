import { translate } from "../../language.ts";
import { formatPlural } from "../../ui/count.ts";

export const texts = translate("captures", {
  exchange: "Exchange",
  answer: "Answer",
  bytes: "Bytes",
  took: "Duration",
  keepAsSample: (label: string) => `Keep ${label} as a sample`,
  keep: "Keep",
  bodiesCut: "; bodies are cut",
  historyLink: "The request in the history",
  parts: "Parts of the exchange",
  http: (status: number, responseHeaders: string, responseBody: string) => `HTTP ${status}
${responseHeaders}

${responseBody}`,
  capturingStopped: "Capturing stopped",
  capturing: "Capturing",
  stopCapturing: "Stop capturing",
  startCapturing: "Start capturing",
  lead: "Exchanges with the provider, with secrets masked. Keep a capture as a sample to replay it later.",
  exchanges: "Exchanges",
  capturesCleared: "Captures cleared",
  clear: "Clear",
  nothingCapturedYet: "Nothing captured yet",
  capturingOff: "Capturing is off",
  newestAreListed: (limit: number) => `The newest ${limit} exchanges will be listed here.`,
  capturingOffHint: "Capturing costs time and storage. Use it to debug a problem.",
  keptAsSample: "Kept as a sample",
  sampleTaken: "Sample taken",
  sampleDeleted: "Sample deleted",
  sample: "Sample",
  kept: "Kept",
  rounds: "Rounds",
  roundCount: (count: number) => formatPlural(count, "round"),
  download: (id: string) => `Download ${id}`,
  downloadTitle: "Download",
  delete: (id: string) => `Delete ${id}`,
  samples: "Samples",
  sampleMessage: "Hello! Who are you?",
  takeSample: "Send and keep the raw answer",
  noSamples: "No samples are kept.",
});
