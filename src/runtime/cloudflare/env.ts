/** Bindings of `wrangler.toml` that a deployment may leave out. */
type Optional = "ASSETS" | "BROWSER" | "CONFIG_KV";

/** The bindings of `wrangler.toml`, as `npm run types` generates them. `getVariables` reads variables and secrets. */
export interface Env
  extends Readonly<Omit<Cloudflare.Env, Optional> & Partial<Pick<Cloudflare.Env, Optional>>> {
  /** Stores the texts of the history. */
  readonly HISTORY_BUCKET?: R2Bucket;
  /** Stores the stored responses. */
  readonly RESPONSES_BUCKET?: R2Bucket;
  /** The sandbox provider, in development only: `scripts/development.mjs` adds it. */
  readonly SANDBOX?: Fetcher;
}
