// Counts calls into the runtime. Must load before the gateway, so that functions which the gateway stores at startup are
// counted too.
let counts = {};

/** Returns the counts so far and resets them. */
export function take() {
  const taken = counts;
  counts = {};
  return taken;
}

const add = (name) => {
  counts[name] = (counts[name] ?? 0) + 1;
};

/** Counts calls of a method. Wraps it only once. */
function method(target, name, as = name) {
  const original = target?.[name];
  if (typeof original !== "function" || original.counted) return;
  const counting = function (...given) {
    add(as);
    return original.apply(this, given);
  };
  counting.counted = true;
  Object.defineProperty(target, name, { value: counting, configurable: true, writable: true });
}

/** Counts reads of a native getter. Wraps it only once. */
function read(target, name, as) {
  const { get, ...rest } = Object.getOwnPropertyDescriptor(target, name) ?? {};
  if (get === undefined) return;
  const counting = function () {
    add(as);
    return get.call(this);
  };
  Object.defineProperty(target, name, { ...rest, get: counting });
}

/** Counts the instances that a class creates. */
function made(name) {
  globalThis[name] = new Proxy(globalThis[name], {
    construct(target, given, newTarget) {
      add(`new ${name}`);
      return Reflect.construct(target, given, newTarget);
    },
  });
}

for (const name of ["setTimeout", "setInterval", "fetch"]) method(globalThis, name);
method(crypto, "randomUUID");
method(crypto.subtle, "digest");
method(console, "log", "console.log");
for (const name of ["URL", "AbortController", "TextEncoder", "TextDecoder", "Headers", "Promise"]) made(name);
method(URL, "canParse", "URL.canParse");
method(AbortSignal, "any", "AbortSignal.any");
method(AbortSignal, "timeout", "AbortSignal.timeout");
method(Promise, "withResolvers", "Promise.withResolvers");
method(Promise, "race", "Promise.race");
method(Promise.prototype, "then", "then, called by name");
method(EventTarget.prototype, "addEventListener");
method(TextEncoder.prototype, "encode", "encode");
method(TextDecoder.prototype, "decode", "decode");
for (const name of ["get", "has", "set", "append"]) method(Headers.prototype, name, `headers.${name}`);
for (const [type, names] of [
  [Request, ["method", "url", "headers", "body", "signal"]],
  [Response, ["status", "ok", "headers", "body"]],
  [URL, ["href", "host", "pathname", "search", "searchParams"]],
  [AbortController, ["signal"]],
  [AbortSignal, ["aborted", "reason"]],
]) {
  for (const name of names) read(type.prototype, name, `${type.name}, its ${name}`);
}
method(JSON, "parse", "JSON.parse");
method(JSON, "stringify", "JSON.stringify");

/** Counts the start of a request. */
export function began(env, ctx) {
  add("requests");
  for (const name of ["ACCOUNT_POOL", "HISTORY", "CONFIGURATION", "USAGE"]) {
    if (env[name] !== undefined) method(env[name], "getByName", `RPC to ${name}`);
  }
  method(Object.getPrototypeOf(ctx), "waitUntil", "waitUntil");
}

/** Counts the storage operations of a Durable Object. */
export function countObject({ storage }) {
  method(Object.getPrototypeOf(storage.sql), "exec", "SQL statements");
  method(Object.getPrototypeOf(storage), "transactionSync", "SQL transactions");
}
