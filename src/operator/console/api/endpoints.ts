import type { ADMIN_ENDPOINTS } from "../../admin/index.ts";

/** The types of all endpoints of the admin API, as the server declares them. */
type Declared = NonNullable<(typeof ADMIN_ENDPOINTS)[number]["types"]>;

/** One entry for each path of an endpoint. */
type ByPath<D extends Declared> = D extends unknown
  ? D["path"] extends infer Path
    ? (Path extends readonly (infer Each)[] ? Each : Path) extends infer P
      ? P extends string
        ? { readonly route: `${D["method"]} ${P}`; readonly body: D["body"]; readonly answer: D["answer"] }
        : never
      : never
    : never
  : never;
type Entries = ByPath<Declared>;

/** An endpoint: its method and its path, such as `GET /admin/keys/:key`. */
export type AdminRoute = Entries["route"];

/** What an endpoint answers. */
export type AnswerOf<Route extends AdminRoute> = Extract<Entries, { readonly route: Route }>["answer"];

type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** The body that an endpoint takes. */
export type BodyOf<Route extends AdminRoute> = DeepReadonly<
  Extract<Entries, { readonly route: Route }>["body"]
>;

/** Names of the parameters in a path. */
type ParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** What a request to an endpoint consists of, besides its method. */
export interface RequestTo<Route extends AdminRoute> {
  /** Values of the path's parameters. */
  readonly params?: { readonly [Name in ParamNames<Route>]: string };
  readonly query?: URLSearchParams | Readonly<Record<string, string>>;
  readonly body?: BodyOf<Route>;
  readonly signal?: AbortSignal | undefined;
  /** Entity tag of the configuration version, or of the entry, that the request is based on. */
  readonly ifMatch?: string | undefined;
}

/** Fills in the parameters of an endpoint's path. */
export function fillRoute(
  route: AdminRoute,
  params: Readonly<Record<string, string>> = {},
): { readonly method: string; readonly path: string } {
  const [method = "", pattern = ""] = route.split(" ");
  const path = pattern.replaceAll(/:(\w+)\+?/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  return { method, path };
}
