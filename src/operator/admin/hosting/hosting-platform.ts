import * as z from "zod";
import { isObject } from "../../../core/encoding/json.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { withoutTrailingSlashes } from "../../../core/encoding/path-segment.ts";
import { MASK, maskSecrets } from "../../../core/encoding/secret-masking.ts";
import { type GatewayError, invalidRequest, upstreamFailure } from "../../../core/errors/gateway-error.ts";
import type { Fetch } from "../../../core/ports/upstream.ts";
import { readBounded } from "../../../gateway/providers/transport.ts";
import type { HostingCredentials } from "./hosting-credentials.ts";

const TIMEOUT_MS = 20_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const MAX_MESSAGE = 300;

/** A run longer than any name. It may be a piece of the configuration (sent as base64) or another credential. */
const ENCODED_TEXT = /[\w+/=-]{48,}/g;

const deploymentsSchema = lazyObject(() => ({
  deployments: z.array(z.object({ uid: z.string(), name: z.string() })).default([]),
}));
const failedSchema = lazyObject(() => ({
  failed: z.array(z.object({ error: z.object({ message: z.string().default("") }) })),
}));
const deploymentSchema = lazyObject(() => ({ url: z.string().default("") }));
const errorSchema = lazyObject(() => ({ error: z.object({ message: z.string().default("") }) }));

/**
 * Client of the hosting platform's API for the hosting sync. Every method throws a `GatewayError` that quotes the
 * platform's error message.
 */
export class HostingPlatform {
  readonly #fetch: Fetch;
  readonly #base: string;
  readonly #credentials: HostingCredentials;

  constructor(fetch: Fetch, base: string, credentials: HostingCredentials) {
    this.#fetch = fetch;
    this.#base = withoutTrailingSlashes(base);
    this.#credentials = credentials;
  }

  /** Sets an environment variable for all environments of the project. */
  async setVariable(key: string, value: string): Promise<void> {
    const project = encodeURIComponent(this.#credentials.projectId);
    const answer = await this.#call(
      "POST",
      `/v10/projects/${project}/env`,
      { upsert: "true" },
      {
        key,
        value,
        type: "encrypted",
        target: ["production", "preview", "development"],
      },
    );
    const failed = failedSchema.safeParse(answer).data?.failed[0];
    if (failed !== undefined) {
      const reason = this.#formatReason(failed.error.message);
      throw upstreamFailure(`the hosting platform did not take the configuration${reason}`);
    }
  }

  /** Redeploys the newest production deployment. Returns its URL; null if there is no deployment. */
  async redeploy(): Promise<string | null> {
    const { projectId } = this.#credentials;
    const query = { projectId, target: "production", state: "READY", limit: "1" };
    const listed = deploymentsSchema.safeParse(await this.#call("GET", "/v6/deployments", query));
    const latest = listed.data?.deployments[0];
    if (latest === undefined) return null;
    const body = { name: latest.name, deploymentId: latest.uid, target: "production" };
    const started = deploymentSchema.safeParse(
      await this.#call("POST", "/v13/deployments", { forceNew: "1" }, body),
    );
    const url = started.data?.url ?? "";
    if (url === "") return null;
    return url.includes("://") ? url : `https://${url}`;
  }

  async #call(
    method: string,
    path: string,
    query: Readonly<Record<string, string>>,
    body?: unknown,
  ): Promise<unknown> {
    const { token, teamId } = this.#credentials;
    const url = new URL(this.#base + path);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    if (teamId !== "") url.searchParams.set("teamId", teamId);
    let response: Response;
    try {
      response = await this.#fetch(url.href, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (error) {
      throw upstreamFailure("the hosting platform cannot be reached", "upstream_unavailable", error);
    }
    const { text } = await readBounded(response, MAX_ANSWER_BYTES);
    const answer = parseJsonOrNull(text);
    if (response.ok && isObject(answer)) return answer;
    if (response.ok) {
      throw upstreamFailure("the hosting platform answered something that is no JSON: is its address right?");
    }
    throw this.#toError(response.status, answer);
  }

  /** Formats the platform's error message, masked, as a suffix of our own message. */
  #formatReason(message: string): string {
    const reason = maskSecrets(message, [this.#credentials.token])
      .replace(ENCODED_TEXT, MASK)
      .slice(0, MAX_MESSAGE);
    return reason === "" ? "" : `: ${reason}`;
  }

  #toError(status: number, answer: unknown): GatewayError {
    const message = errorSchema.safeParse(answer).data?.error.message ?? "";
    const reason = this.#formatReason(message);
    if (status === 401 || status === 403) {
      return invalidRequest(`the hosting platform refused the token${reason}`, "vercel_token");
    }
    if (status === 404)
      return invalidRequest(`the hosting platform knows no such project${reason}`, "project_id");
    if (status === 400 || status === 413) return invalidRequest(`the hosting platform refused${reason}`);
    return upstreamFailure(`the hosting platform answered with status ${status}${reason}`);
  }
}

function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
