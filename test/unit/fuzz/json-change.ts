import { isObject, type JsonObject } from "../../../src/core/encoding/json.ts";

/** Values that a field may hold although nobody would expect them. */
const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  9007199254740992,
  0.5,
  "",
  " ",
  "\u0000",
  "\ud800",
  "__proto__",
  "a".repeat(5000),
  "data:,x",
  "data:image/png;base64,%%%",
  "https://[::1]/",
  "<|TCML|tool_calls>",
  [],
  [[]],
  [null],
  {},
  JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
  { type: "text" },
  { type: "image_url", image_url: "x" },
  { $ref: "#" },
];

type Container = JsonObject | unknown[];

function containersOf(root: unknown): Container[] {
  const found: Container[] = [];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) found.push(value);
    else if (isObject(value)) found.push(value);
    else return;
    for (const member of Object.values(value)) walk(member);
  };
  walk(root);
  return found;
}

/** Changes one place of a JSON text: a member goes, comes twice, moves, or becomes something odd. Other texts stay. */
export function changedJson(text: string, kind: number, place: number, size: number): string {
  let root: unknown;
  try {
    root = [JSON.parse(text)];
  } catch {
    return text;
  }
  const containers = containersOf(root);
  const container = containers[Math.floor(place * containers.length)] ?? containers[0];
  if (container === undefined) return text;
  const keys = Object.keys(container);
  const key = keys[Math.floor(size * keys.length)] ?? keys[0];
  if (key === undefined) return text;
  const odd = ODD[Math.floor(place * 7919 + size * 104_729) % ODD.length];
  switch (kind % 4) {
    case 0:
      if (Array.isArray(container)) container.splice(Number(key), 1);
      else Reflect.deleteProperty(container, key);
      break;
    case 1:
      if (Array.isArray(container)) container.push(container[Number(key)]);
      else Reflect.set(container, `${key}s`, Reflect.get(container, key));
      break;
    case 2:
      Reflect.set(container, key, [Reflect.get(container, key)]);
      break;
    default:
      Reflect.set(container, key, odd);
  }
  const [changed] = Array.isArray(root) ? root : [];
  return JSON.stringify(changed) ?? "null";
}
