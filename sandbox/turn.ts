import { isObject } from "../src/core/encoding/json.ts";
/** Validated body of POST /api/sessions/{id}/turns. */
export interface Turn {
  readonly parent_message_id: string | null;
  readonly model: "flash" | "pro" | "vision";
  readonly prompt: string;
  readonly file_ids: readonly string[];
  readonly thinking: boolean;
  readonly search: boolean;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly stop?: string | readonly string[];
}

const FIELDS: ReadonlySet<string> = new Set([
  "parent_message_id",
  "model",
  "prompt",
  "file_ids",
  "thinking",
  "search",
  "temperature",
  "top_p",
  "stop",
]);

const isText = (value: unknown): value is string => typeof value === "string";
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);
const isBetween = (value: unknown, low: number, high: number): value is number =>
  typeof value === "number" && value >= low && value <= high;

/** Validates a turn strictly. Returns the turn, or an error message. */
export function readTurn(body: unknown): Turn | string {
  if (!isObject(body)) return "The turn must be a JSON object.";
  const fields = new Map<string, unknown>(Object.entries(body));
  const unknown = [...fields.keys()].find((name) => !FIELDS.has(name));
  if (unknown !== undefined) return `Unknown field: ${unknown}.`;
  const get = (name: string): unknown => fields.get(name);

  const parent = get("parent_message_id");
  if (parent !== null && !isText(parent)) return "parent_message_id must be a string or null.";
  const model = get("model");
  if (model !== "flash" && model !== "pro" && model !== "vision")
    return "model must be flash, pro or vision.";
  const prompt = get("prompt");
  if (!isText(prompt) || prompt.trim() === "") return "prompt must be a string that is not blank.";
  const files = get("file_ids");
  if (!isTexts(files)) return "file_ids must be an array of strings.";
  const thinking = get("thinking");
  if (typeof thinking !== "boolean") return "thinking must be a boolean.";
  const search = get("search");
  if (typeof search !== "boolean") return "search must be a boolean.";
  const temperature = get("temperature");
  if (temperature !== undefined && !isBetween(temperature, 0, 2)) return "temperature must be from 0 to 2.";
  const topP = get("top_p");
  if (topP !== undefined && !isBetween(topP, 0, 1)) return "top_p must be from 0 to 1.";
  const stop = get("stop");
  if (stop !== undefined && !isText(stop) && !isTexts(stop))
    return "stop must be a string or an array of strings.";
  return {
    parent_message_id: parent,
    model,
    prompt,
    file_ids: files,
    thinking,
    search,
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(stop !== undefined && { stop }),
  };
}
