import { createTestHarness } from "wrangler";
import { developmentVars, root } from "../../scripts/development.mjs";
import { type Bundles, buildBundles } from "./bundle.ts";
import { fetchDescribed } from "./described.ts";
import type { Gateway, GatewayOptions } from "./gateway.ts";
import { SandboxControl } from "./sandbox.ts";

/** Starts the built gateway and the sandbox in workerd, under wrangler's harness. */
export async function startHarness(options: GatewayOptions): Promise<Gateway> {
  const bundles = await buildBundles();
  const harness = createTestHarness({ root, workers: workersOf(bundles, options) });
  let { url } = await harness.listen();
  return {
    get url() {
      return url.origin;
    },
    fetch: (path, init) => fetchDescribed(new URL(path, url), init),
    sandbox: new SandboxControl((path, method) =>
      harness.getWorker("polygate-sandbox").fetch(`http://sandbox${path}`, { method }),
    ),
    harness,
    logs: () => harness.getLogs().map(({ message }) => message),
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
