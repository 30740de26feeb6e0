import * as z from "zod";
import { describeHostFault } from "../../../core/config/host-syntax.ts";
import { type Proxy as ConfiguredProxy, proxySchema } from "../../../core/config/schemas/proxy-schema.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import type { Platform } from "../../../core/ports/platform.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { ProxyFailure } from "../../../gateway/upstream/proxy/failure.ts";
import { requestObject } from "../request-fields.ts";
import { getSavedProxy, proxyViewSchema } from "./proxies.ts";

const TIMEOUT_MS = 10_000;

/**
 * Statuses of an intermediary that cannot reach the target. The target itself may send them too; the two cases look the
 * same.
 */
const GATEWAY_ERROR_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/** Body of `POST /admin/proxies/test`: a saved proxy by `proxy_id`, or proxy fields. Default `target`: the provider. */
const proxyTestSchema = requestObject(
  () => ({
    proxy_id: z.string().trim().default(""),
    type: proxySchema.shape.type.optional(),
    host: proxySchema.shape.host.optional(),
    port: proxySchema.shape.port.optional(),
    username: z.string().default(""),
    password: z.string().default(""),
    target: z.url({ protocol: /^https?$/, error: "must be an http or https address" }).optional(),
  }),
  proxyViewSchema,
);

/** Result of a proxy test. `latency_ms` ends when the result is known. */
const resultSchema = () =>
  z.object({
    success: z.boolean(),
    latency_ms: z.int(),
    message: z.string(),
    proxy_id: z.string(),
    proxy_type: z.enum(["http", "socks5"]),
    target: z.string(),
    /** HTTP status of the target's response; 0: no response. */
    status_code: z.int(),
    failed_at: z.enum(["proxy", "credentials", "target", "tls", "answer", "timeout"]).nullable(),
    warning: z.string().optional(),
  });
type ProxyTestResult = z.output<ReturnType<typeof resultSchema>>;

const EDGE_WARNING =
  "Workers may not name the server when they start TLS through a proxy: on Cloudflare's production network an https target can fail although it works in development. An http target is not affected.";

function proxyFromFields(body: z.output<typeof proxyTestSchema>): ConfiguredProxy {
  const { type, host, port, username, password } = body;
  if (type === undefined) throw invalidRequest("proxy_id, or type, host and port are needed", "proxy_id");
  if (host === undefined) throw invalidRequest("host: a proxy needs a host", "host");
  const fault = describeHostFault(host);
  if (fault !== null) throw invalidRequest(`host: ${fault}`, "host");
  if (port === undefined) throw invalidRequest("port: a proxy needs a port", "port");
  return { id: "", name: "", type, host, port, username, password };
}

async function findProxyToTest(context: Context, body: z.output<typeof proxyTestSchema>) {
  if (body.proxy_id === "") return proxyFromFields(body);
  const { config } = await context.platform.configuration.readFresh();
  return getSavedProxy(config.proxies, body.proxy_id);
}

/** A request through a proxy: the status of the answer, and whether the answer came through a proxy for certain. */
interface ProxyAttempt {
  readonly status: number;
  readonly isProxy: boolean;
}

/**
 * Requests a target through a proxy. TLS and SOCKS5 need a real proxy. Any web server answers a plain request that an
 * HTTP proxy would forward, so this case needs a tunnel, or another answer for a host that cannot exist (RFC 6761).
 */
async function requestThroughProxy(
  { upstreamFetch }: Pick<Platform, "upstreamFetch">,
  proxy: ConfiguredProxy,
  target: string,
  signal: AbortSignal,
): Promise<ProxyAttempt> {
  const readStatus = async (address: string, requiresTunnel = false): Promise<number> => {
    const fetch = upstreamFetch({ ...proxy, requiresTunnel });
    const response = await fetch(address, { redirect: "manual", signal });
    await response.body?.cancel();
    return response.status;
  };
  if (proxy.type !== "http" || target.startsWith("https:")) {
    return { status: await readStatus(target), isProxy: true };
  }
  try {
    return { status: await readStatus(target, true), isProxy: true };
  } catch (error) {
    // Many HTTP proxies allow CONNECT only for TLS.
    if (!(error instanceof ProxyFailure) || error.stage === "credentials") throw error;
  }
  const status = await readStatus(target);
  const unreachable = new URL(target);
  unreachable.host = `${crypto.randomUUID()}.invalid`;
  const control = await readStatus(unreachable.href).catch((error: unknown) => {
    if (error instanceof ProxyFailure) return status;
    throw error;
  });
  return { status, isProxy: control !== status };
}

function describeFailure(error: unknown): Pick<ProxyTestResult, "message" | "failed_at"> {
  if (error instanceof ProxyFailure) return { message: error.message, failed_at: error.stage };
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return { message: `nothing answered within ${TIMEOUT_MS / 1000} s`, failed_at: "timeout" };
  }
  return { message: "the proxy cannot be reached", failed_at: "proxy" };
}

export const PROXY_TEST_ENDPOINTS = [
  /**
   * `POST /admin/proxies/test` (docs/contract/admin-entries.md): connects to the provider, or to `target`, through a
   * proxy. Any HTTP response except 502, 503 and 504 is a success if a proxy forwarded it. A failure is a 200 response
   * with the reason and the stage.
   */
  adminEndpoint({
    method: "POST",
    path: "/admin/proxies/test",
    summary: "Test a proxy",
    body: proxyTestSchema,
    answers: jsonResponse(resultSchema),
    handler: async (context, { body }) => {
      const proxy = await findProxyToTest(context, body);
      const { platform } = context;
      const target = body.target ?? platform.providerBaseUrl;
      if (target === null) throw invalidRequest("no provider is configured: send a target", "target");
      const { origin } = new URL(target);
      const started = platform.now();
      const secure = origin.startsWith("https:");
      const result = (
        outcome: Pick<ProxyTestResult, "success" | "message" | "status_code" | "failed_at">,
      ): ProxyTestResult => ({
        latency_ms: platform.now() - started,
        proxy_id: proxy.id,
        proxy_type: proxy.type,
        target: origin,
        ...outcome,
        ...(secure && !platform.supportsSniThroughProxy ? { warning: EDGE_WARNING } : {}),
      });
      const signal = AbortSignal.any([context.request.signal, AbortSignal.timeout(TIMEOUT_MS)]);
      try {
        const { status, isProxy } = await requestThroughProxy(platform, proxy, target, signal);
        const reached = !GATEWAY_ERROR_STATUSES.has(status);
        const message = `${origin} answered through the proxy with status ${status}`;
        if (reached && isProxy) {
          return Response.json(result({ success: true, message, status_code: status, failed_at: null }));
        }
        return Response.json(
          result({
            success: false,
            message: reached
              ? `the server is no proxy: it answers status ${status} to any request, as a web server does`
              : `${message}: something on the way, or the target, does not work`,
            status_code: status,
            failed_at: reached ? "proxy" : "answer",
          }),
        );
      } catch (error) {
        return Response.json(result({ success: false, status_code: 0, ...describeFailure(error) }));
      }
    },
  }),
] satisfies readonly Endpoint[];
