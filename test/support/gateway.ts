import { createTestHarness, type TestHarness } from "wrangler";
import { developmentVars, root } from "../../scripts/development.mjs";
import { type Bundles, buildBundles } from "./bundle.ts";
import { SandboxControl } from "./sandbox.ts";

/** How the gateway is to be started. */
export interface GatewayOptions {
  /** Variables of the deployment, over those of development. */
  readonly vars?: Readonly<Record<string, string>>;
  /** Variables of the sandbox, such as TOKEN_LIFETIME_SECONDS. */
  readonly sandboxVars?: Readonly<Record<string, string>>;
}

/** A running gateway with its sandbox. */
export interface Gateway {
  /** The address without a slash at its end; another one after `reset`. */
  readonly url: string;
  /** A request to a path of the gateway, over real HTTP. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  readonly sandbox: SandboxControl;
  /** Wrangler's harness: storage, eviction, logs, bindings. */
  readonly harness: TestHarness;
  /** The same with empty storage. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts the built gateway and the sandbox in workerd on a free port. An upstream named by `PROVIDER_BASE_URL` does
 * not see a client's disconnect here; tests of that use `startMiniflare`.
 */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const bundles = await buildBundles();
  const harness = createTestHarness({ root, workers: workersOf(bundles, options) });
  let { url } = await harness.listen();
  return {
    get url() {
      return url.origin;
    },
    fetch: (path, init) => fetch(new URL(path, url), init),
    sandbox: new SandboxControl((path, method) =>
      harness.getWorker("polygate-sandbox").fetch(`http://sandbox${path}`, { method }),
    ),
    harness,
    reset: async () => {
      await harness.reset();
      ({ url } = await harness.listen());
    },
    close: () => harness.close(),
  };
}

function workersOf({ gateway, sandbox }: Bundles, options: GatewayOptions) {
  return [
    {
      configPath: gateway.config,
      prebuiltWorkerDir: gateway.folder,
      vars: { ...developmentVars, ...options.vars },
    },
    { configPath: sandbox.config, prebuiltWorkerDir: sandbox.folder, vars: { ...options.sandboxVars } },
  ];
}
