import { listModels } from "../../api/models.ts";
import { readSettings, type StoredRoute } from "../../api/settings.ts";
import { PRICES_HREF } from "../../shared/prices-link.ts";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Page, Panel } from "../../ui/page.tsx";
import { actionColumn, type Column } from "../../ui/tables/data-table.tsx";
import { PagedTable } from "../../ui/tables/paged-table.tsx";
import { TestButton } from "../../ui/test-button.tsx";
import { words } from "../../ui/words.ts";
import { AliasEditor } from "./alias-editor.tsx";
import { ResolveName } from "./resolve-name.tsx";
import { RouteEditor } from "./route-editor.tsx";
import { findRoute, summarizeRoute } from "./route-text.ts";
import { texts } from "./texts.ts";
import { UnknownNames } from "./unknown-names.tsx";

type Routes = Readonly<Record<string, StoredRoute>>;

const NO_ROUTES: Routes = {};

/**
 * Describes the variant that a model's name denotes. For models of other providers it only names the provider, for a
 * route the models that it leads to.
 */
function describeModel(id: string, routes: Routes): string {
  const route = findRoute(routes, id);
  if (route !== undefined) return texts.routeOf(summarizeRoute(route));
  const slash = id.indexOf("/");
  if (slash !== -1) return texts.modelProvider(id.slice(0, slash));
  const parts = [
    id.includes("-pro") ? texts.largerModel : id.includes("-vision") ? texts.readsImages : texts.fastModel,
    id.includes("-search") ? texts.searchesWeb : "",
    id.endsWith("-nothinking") ? texts.noReasoning : texts.reasoning,
  ];
  return parts.filter(Boolean).join(", ");
}

const listColumns = (routes: Routes): readonly Column<string>[] => [
  { title: words.name, class: "mono", cell: (id) => id },
  { title: texts.description, class: "muted whole", cell: (id) => describeModel(id, routes) },
  actionColumn((id) => <TestButton label={texts.testModel(id)} findModel={async () => id} />),
];

/** Page for the models that callers can request, and their aliases. */
export function Models() {
  const models = useLoaded(listModels);
  const settings = useLoaded(readSettings);
  return (
    <Page
      title={words.models}
      lead={texts.lead}
      actions={
        <a class="button plain" href={PRICES_HREF}>
          {texts.prices}
        </a>
      }
    >
      <LoadState {...models} />
      <Problem error={settings.error} retry={settings.reload} />
      <ResolveName routes={settings.data?.model_routes ?? NO_ROUTES} />
      {settings.data !== null && models.data !== null && (
        <>
          <AliasEditor
            aliases={settings.data.model_aliases}
            models={models.data}
            onSaved={settings.replace}
          />
          <RouteEditor routes={settings.data.model_routes} models={models.data} reload={settings.reload} />
          <UnknownNames present={settings.data.unknown_models.provider} onSaved={settings.replace} />
        </>
      )}
      {(settings.data !== null || settings.error !== "") && models.data !== null && (
        <Panel title={words.models}>
          <PagedTable
            rows="few"
            items={models.data}
            keyOf={(id) => id}
            columns={listColumns(settings.data?.model_routes ?? NO_ROUTES)}
          />
        </Panel>
      )}
    </Page>
  );
}
