// Counts calls into the runtime. Loaded before the gateway, so that what that takes hold of when it starts is counted, too.
let counts = {};

/** The counts so far; from here on they are anew. */
export function take() {
  const taken = counts;
  counts = {};
  return taken;
}

const add = (name) => {
  counts[name] = (counts[name] ?? 0) + 1;
};

/** Has calls of a method be counted, once. */
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

/** Has readings of what a native object has be counted, once. */
function read(target, name, as) {
  const { get, ...rest } = Object.getOwnPropertyDescriptor(target, name) ?? {};
  if (get === undefined) return;
  const counting = function () {
    add(as);
    return get.call(this);
  };
  Object.defineProperty(target, name, { ...rest, get: counting });
}

/** Has what a class makes be counted. */
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

/** A request has begun. */
export function began(env, ctx) {
  add("requests");
  for (const name of ["ACCOUNT_POOL", "HISTORY", "CONFIGURATION", "USAGE"]) {
    if (env[name] !== undefined) method(env[name], "getByName", `RPC to ${name}`);
  }
  method(Object.getPrototypeOf(ctx), "waitUntil", "waitUntil");
}

/** What a Durable Object does with its storage is counted. */
export function countObject({ storage }) {
  method(Object.getPrototypeOf(storage.sql), "exec", "SQL statements");
  method(Object.getPrototypeOf(storage), "transactionSync", "SQL transactions");
}
