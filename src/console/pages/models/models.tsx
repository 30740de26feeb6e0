import { listModels } from "../../api/models.ts";
import { readSettings } from "../../api/settings.ts";
import { Page, Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { AliasEditor } from "./alias-editor.tsx";
import { ResolveName } from "./resolve-name.tsx";

/** What the variants of a model's name mean. */
function traits(id: string): string {
  const parts = [
    id.includes("-pro") ? "the larger model" : id.includes("-vision") ? "reads images" : "the fast model",
    id.includes("-search") ? "searches the web" : "",
    id.endsWith("-nothinking") ? "answers at once" : "thinks first",
  ];
  return parts.filter(Boolean).join(", ");
}

/** The models that callers can ask for, and other names for them. */
export function Models() {
  const models = useLoaded(listModels);
  const settings = useLoaded(readSettings);
  return (
    <Page
      title="Models"
      lead="Callers may use a model's own name, one of the many names that are built in, or an alias from here."
    >
      <Problem error={models.error} retry={models.reload} />
      <Problem error={settings.error} retry={settings.reload} />
      <ResolveName />
      {settings.data !== null && models.data !== null && (
        <AliasEditor aliases={settings.data.model_aliases} models={models.data} onSaved={settings.replace} />
      )}
      {(settings.data !== null || settings.error !== "") && models.data !== null && (
        <Panel title="Models">
          <div class="table-box">
            <table>
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">What it does</th>
                </tr>
              </thead>
              <tbody>
                {models.data.map((id) => (
                  <tr key={id}>
                    <td class="mono">{id}</td>
                    <td class="muted">{traits(id)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Panel>
      )}
    </Page>
  );
}
