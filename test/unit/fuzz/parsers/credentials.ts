import { checkToken, issueToken } from "../../../../src/core/auth/admin-token.ts";
import { hasValidSignature, signLink } from "../../../../src/core/auth/signed-links.ts";
import { looksLikeToken } from "../../../../src/core/auth/token-detection.ts";
import { parseNetwork } from "../../../../src/core/config/cidr-network.ts";
import { configSchema } from "../../../../src/core/config/schema.ts";
import { parseDataUrl } from "../../../../src/core/encoding/data-url.ts";
import { isObject } from "../../../../src/core/encoding/json.ts";
import { GatewayError } from "../../../../src/core/errors/gateway-error.ts";
import { ProviderError } from "../../../../src/core/errors/provider-error.ts";
import { clientKey, networkKey } from "../../../../src/core/http/client-key.ts";
import { parseWith } from "../../../../src/core/http/json-body.ts";
import { resolveModel } from "../../../../src/gateway/models/resolve-model.ts";
import { readErrorResponse } from "../../../../src/gateway/providers/errors/error-response.ts";
import { readImport } from "../../../../src/operator/admin/configuration/import-body.ts";
import { ACCOUNT_KEY, ADMIN_REQUESTS, UPSTREAM_ANSWERS } from "../corpus/http.ts";
import { bytesOf, only, type Target, target } from "../target.ts";
import { headersOf, messageIn } from "./messages.ts";

const DIGEST = "0123456789abcdef".repeat(4);
const PATH = "/v1/technologies/";
const LINKS = [
  "url=https%3A%2F%2Fexample.com&keyId=key_1&expires=1800000000",
  "url=https://example.com/?a=b&keyId=key_1&expires=1800000000&pretty=true",
];

/** A link is signed if its signature is that of its query, whatever else it says; no other link has that signature. */
const links = target("signed links", LINKS, async (input) => {
  const query = new URLSearchParams(input);
  const others = query.getAll("signature");
  query.delete("signature");
  const signature = await signLink(DIGEST, PATH, query);
  for (const other of others) {
    query.set("signature", other);
    if (other !== signature && (await hasValidSignature(DIGEST, PATH, query)))
      throw new Error(`${other} is taken`);
  }
  query.set("signature", signature);
  if (!(await hasValidSignature(DIGEST, PATH, query))) throw new Error("its own signature is refused");
  query.append("more", "1");
  if (await hasValidSignature(DIGEST, PATH, query)) throw new Error("a changed link is taken");
});

const SECRET = "the secret that signs";
const NOW = 1_800_000_000_000;
const TOKEN = await issueToken(SECRET, NOW, 3_600, { id: null, epoch: "" });

/** Of all tokens only one that was issued is good. */
const tokens = target(
  "administrators' tokens",
  [TOKEN, TOKEN.replace(/\.(?=[^.]*$)/, ".\n"), `${TOKEN}.x`, TOKEN.split(".").slice(0, 2).join(".")],
  async (input) => {
    // As for requests: decoders of base64 skip whitespace, so the check alone takes a token with a line break.
    if (!looksLikeToken(input)) return;
    const { valid } = await checkToken(input, SECRET, 0, NOW);
    // The last character of a signature stands for fewer bits than it has.
    if (valid && input.slice(0, -1) !== TOKEN.slice(0, -1))
      throw new Error("a token is good that was not issued");
  },
);

const ADDRESSES = [
  "192.0.2.1",
  "2001:db8::1",
  "::ffff:192.0.2.1",
  "10.0.0.0/8",
  "fe80::1%eth0",
  "unknown",
  "0x7f.1",
  "1.2.3.4:80",
];

/** An address names its client, and nothing that an address is made of gets further. */
const addresses = target("addresses of clients", ADDRESSES, (input) => {
  const key = clientKey(input);
  if (!/^(?:unknown|[\da-f.:]+(?:\/64)?)$/.test(key)) throw new Error(key);
  networkKey(input);
  const network = parseNetwork(input);
  if (network !== null && !(network[1] >= 0 && network[1] <= 128)) throw new Error(`${network[1]} bits`);
});

/** A `data:` URL is taken apart, or is none. */
const dataUrls = target(
  "data URLs",
  ["data:image/png;base64,iVBORw0KGgo=", "data:,x", "data:text/plain;charset=utf-8;BASE64 ,eA"],
  (input) => {
    const parsed = parseDataUrl(input);
    if (parsed !== null && !input.endsWith(parsed.data)) throw new Error(parsed.data);
  },
);

const IMPORTS = ADMIN_REQUESTS.flatMap((text) => {
  const { body } = messageIn(text);
  return body.startsWith("{") ? [body] : [];
});

/** An import is a configuration, or refused with the reason. */
const imports = target("imported configurations", IMPORTS, async (input) => {
  let body: unknown;
  try {
    body = JSON.parse(input);
  } catch {
    return;
  }
  if (!isObject(body)) return;
  const read = await only([GatewayError], () => readImport(body, {}));
  if (read === undefined) return;
  const config = await only([GatewayError], () => parseWith(configSchema, read.raw));
  if (config === undefined) return;
  const again = parseWith(configSchema, JSON.parse(JSON.stringify(config)));
  if (JSON.stringify(again) !== JSON.stringify(config))
    throw new Error("what was stored is read as something else");
});

/** A refusal of an upstream is an error that says why, on one line, without the account's token; waits are finite. */
const refusals = target("refusals of upstreams", UPSTREAM_ANSWERS["all"] ?? [], async (input) => {
  const message = messageIn(input);
  const status = Number(message.first.split(" ")[0]);
  if (!(Number.isInteger(status) && status >= 400 && status <= 599)) return;
  const response = new Response(bytesOf(message.body), { status, headers: headersOf(message) });
  const { error } = await readErrorResponse(response, ACCOUNT_KEY, new AbortController().signal);
  if (!(error instanceof ProviderError)) throw new Error("no provider's error");
  if (/[\n\r]/.test(error.message) || error.message.includes(ACCOUNT_KEY)) throw new Error(error.message);
  const { retryAfter } = error;
  if (retryAfter !== null && !(Number.isFinite(retryAfter) && retryAfter >= 0))
    throw new Error(`wait ${retryAfter} s`);
});

/** A model's name leads to a model, or nowhere. */
const models = target(
  "names of models",
  ["gpt-4o", "provider-v4-flash-nothinking", "models/gemini-2.5-pro", "claude-opus-4:thinking", "ns/gpt-4o"],
  async (input) => {
    await only([GatewayError], () =>
      resolveModel(input, { model_aliases: { "gpt-4o": "provider-v4-flash" } }),
    );
  },
);

export const credentialTargets: readonly Target[] = [
  links,
  tokens,
  addresses,
  dataUrls,
  imports,
  refusals,
  models,
];
