import { send } from "./client.ts";

/** One line of Prometheus' text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Reads Prometheus' text format; lines that are not samples are skipped. */
export function parseMetrics(text: string): Sample[] {
  const samples: Sample[] = [];
  for (const line of text.split("\n")) {
    const match = line.startsWith("#") ? null : LINE.exec(line);
    if (match === null) continue;
    const labels: Record<string, string> = {};
    for (const [, name = "", value = ""] of (match[2] ?? "").matchAll(LABEL)) {
      labels[name] = value.replace(/\\(.)/g, (_, character: string) =>
        character === "n" ? "\n" : character,
      );
    }
    const value = Number(match[3]);
    if (Number.isFinite(value)) samples.push({ name: match[1] ?? "", labels, value });
  }
  return samples;
}

/** The sum of all series of a metric whose labels pass. */
export function total(
  samples: readonly Sample[],
  name: string,
  passes: (labels: Sample["labels"]) => boolean = () => true,
): number {
  let sum = 0;
  for (const sample of samples) if (sample.name === name && passes(sample.labels)) sum += sample.value;
  return sum;
}

export async function readMetrics(signal?: AbortSignal): Promise<Sample[]> {
  const response = await send("/admin/metrics", signal === undefined ? {} : { signal });
  return parseMetrics(await response.text());
}
