/** Bindings of `wrangler.toml` that a deployment may leave out. */
type Optional = "ASSETS" | "BROWSER" | "CONFIG_KV";

/** The bindings of `wrangler.toml`, as `npm run types` writes them down. Variables and secrets are read by `variablesOf`. */
export interface Env
  extends Readonly<Omit<Cloudflare.Env, Optional> & Partial<Pick<Cloudflare.Env, Optional>>> {
  /** Takes the texts of the history. */
  readonly HISTORY_BUCKET?: R2Bucket;
  /** Takes stored responses. */
  readonly RESPONSES_BUCKET?: R2Bucket;
  /** The sandbox provider, in development: `scripts/development.mjs` adds it. */
  readonly SANDBOX?: Fetcher;
}
