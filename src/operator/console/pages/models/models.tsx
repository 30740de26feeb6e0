import { listModels } from "../../api/models.ts";
import { readSettings } from "../../api/settings.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { AliasEditor } from "./alias-editor.tsx";
import { ResolveName } from "./resolve-name.tsx";
import { RouteEditor } from "./route-editor.tsx";
import { UnknownNames } from "./unknown-names.tsx";

/** Describes the variant that a model's name denotes. For models of other providers it only names the provider. */
function describeVariant(id: string): string {
  const slash = id.indexOf("/");
  if (slash !== -1) return `a model of the provider ${id.slice(0, slash)}`;
  const parts = [
    id.includes("-pro") ? "the larger model" : id.includes("-vision") ? "reads images" : "the fast model",
    id.includes("-search") ? "searches the web" : "",
    id.endsWith("-nothinking") ? "answers at once" : "thinks first",
  ];
  return parts.filter(Boolean).join(", ");
}

const COLUMNS: readonly Column<string>[] = [
  { title: "Name", class: "mono", cell: (id) => id },
  { title: "Description", class: "muted", cell: describeVariant },
];

/** Page for the models that callers can request, and their aliases. */
export function Models() {
  const models = useLoaded(listModels);
  const settings = useLoaded(readSettings);
  return (
    <Page
      title="Models"
      lead="Callers can use a model's own name, a built-in name, or an alias or route from this page."
    >
      <Problem error={models.error} retry={models.reload} />
      <Problem error={settings.error} retry={settings.reload} />
      <ResolveName />
      {settings.data !== null && models.data !== null && (
        <>
          <AliasEditor
            aliases={settings.data.model_aliases}
            models={models.data}
            onSaved={settings.replace}
          />
          <RouteEditor routes={settings.data.model_routes} reload={settings.reload} />
          <UnknownNames present={settings.data.unknown_models.provider} onSaved={settings.replace} />
        </>
      )}
      {(settings.data !== null || settings.error !== "") && models.data !== null && (
        <Panel title="Models">
          <DataTable items={models.data} keyOf={(id) => id} columns={COLUMNS} />
        </Panel>
      )}
    </Page>
  );
}
