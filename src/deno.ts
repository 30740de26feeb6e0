import { handleRequest } from "./app.ts";
import { warnIfOpenToAnyKey } from "./core/auth/unknown-key-policy.ts";
import { describeForLog } from "./core/errors/failure-message.ts";
import { lastAddress } from "./core/http/client-key.ts";
import { probeCircuits } from "./gateway/accounts/probe-circuits.ts";
import { refreshModels } from "./gateway/accounts/refresh-models.ts";
import { refreshTokens } from "./gateway/accounts/refresh-tokens.ts";
import { InFlightWork } from "./runtime/deno/in-flight-work.ts";
import { createDenoRuntime } from "./runtime/deno/index.ts";
import { warnOfMissingFonts } from "./runtime/deno/missing-fonts.ts";
import { readVariablesOrExit } from "./runtime/deno/variables.ts";

const variables = readVariablesOrExit();
const { clientAddressHeader } = variables;
const { refreshCheckMs, shutdownMs } = variables.process;
const inFlight = new InFlightWork();
const runtime = await createDenoRuntime(variables, inFlight.closing);
warnIfOpenToAnyKey(runtime.platform, (await runtime.platform.configuration.read()).config);

/** The client's address: the last one in the header that `CLIENT_ADDRESS_HEADER` names, else the connection's. */
function getClientAddress(request: Request, { remoteAddr }: Deno.ServeHandlerInfo): string {
  const forwarded =
    clientAddressHeader === null ? undefined : lastAddress(request.headers, clientAddressHeader);
  return forwarded ?? ("hostname" in remoteAddr ? remoteAddr.hostname : "");
}

async function shutDown(): Promise<void> {
  // A second signal exits at once.
  if (inFlight.isClosing) Deno.exit(1);
  const drained = await inFlight.drain(shutdownMs);
  runtime.close();
  Deno.exit(drained ? 0 : 1);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, () => void shutDown());
}

// An uncaught error may end its own request, but not the streams of all others.
globalThis.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  handleUncaughtError(event.reason);
});
globalThis.addEventListener("error", (event) => {
  event.preventDefault();
  handleUncaughtError(event.error);
});

/**
 * Whether the server is listening. Before that, an error ends the process, because a process that cannot listen must be
 * restarted.
 */
let isListening = false;

function handleUncaughtError(thrown: unknown): void {
  if (!isListening) {
    console.error(`Polygate cannot start: ${describeStartFailure(thrown)}`);
    runtime.close();
    Deno.exit(1);
  }
  console.error(JSON.stringify({ at: new Date().toISOString(), uncaught: describeForLog(thrown) }));
}

function describeStartFailure(thrown: unknown): string {
  return thrown instanceof Deno.errors.AddrInUse
    ? 'another program listens on its port. Choose another one with --port, or with PORT for "npm run start:deno".'
    : `${describeForLog(thrown)}.`;
}

/** Prints the address in the runtime's format; the program that started it waits for this line. */
function reportListening(address: Deno.Addr): void {
  isListening = true;
  if (!("hostname" in address)) return;
  const { hostname, port } = address;
  console.error(`Listening on http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}/`);
  void warnOfMissingFonts();
}

// Resume alerting for problems that were open before the restart.
inFlight.add(Promise.resolve(runtime.platform.alerts.startChecks()));
setInterval(() => {
  if (inFlight.isClosing) return;
  inFlight.add(probeCircuits(runtime.platform));
  inFlight.add(refreshTokens(runtime.platform));
  inFlight.add(refreshModels(runtime.platform));
}, refreshCheckMs);

/** The server that `deno serve` runs. */
export default {
  onListen: reportListening,
  fetch: (request, info) => {
    if (inFlight.isClosing) {
      return new Response(null, { status: 503, headers: { connection: "close", "retry-after": "5" } });
    }
    inFlight.add(info.completed);
    return handleRequest(request, {
      platform: runtime.platform,
      clientAddress: getClientAddress(request, info),
      waitUntil: (promise) => inFlight.add(promise),
      beforeEnd: (end) => inFlight.beforeEnd(end, info.completed),
    });
  },
} satisfies Deno.ServeDefaultExport;
