import { useState } from "preact/hooks";
import { changeSettings, type Route, type Settings } from "../../api/settings.ts";
import { Button } from "../../ui/button.tsx";
import { actionColumn, type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { showToast, showUndoToast } from "../../ui/toasts.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { useAsyncAction } from "../../ui/use-async-action.ts";
import { RouteForm } from "./route-form.tsx";
import { summarizeRoute } from "./route-text.ts";

type Routes = Readonly<Record<string, Route>>;

interface RouteEditorProps {
  readonly routes: Routes;
  readonly onSaved: (settings: Settings) => void;
}

/** Editor for model routes: names that may resolve to several models. */
export function RouteEditor({ routes, onSaved }: RouteEditorProps) {
  const [editing, setEditing] = useState<string | null>(null);
  const removal = useAsyncAction();
  const send = async (next: Routes) => onSaved(await changeSettings({ model_routes: next }));
  const without = (name: string): Routes =>
    Object.fromEntries(Object.entries(routes).filter(([route]) => route !== name));
  const remove = (name: string) =>
    removal.run(async () => {
      await send(without(name));
      showUndoToast(
        "Route removed",
        () => send(routes),
        async () => {},
      );
    });
  const names = Object.keys(routes).sort();
  const add = <Button onClick={() => setEditing("")}>Add route</Button>;
  const columns: Column<string>[] = [
    { title: "Requested name", class: "mono", cell: (name) => <TruncatedText text={name} /> },
    {
      title: "Models",
      class: "mono",
      cell: (name) => <TruncatedText text={summarizeRoute(routes[name] ?? [])} />,
    },
    actionColumn((name) => (
      <>
        <Button kind="quiet" label={`Edit the route ${name}`} onClick={() => setEditing(name)}>
          Edit
        </Button>
        <Button kind="quiet" label={`Remove the route ${name}`} onClick={() => void remove(name)}>
          Remove
        </Button>
      </>
    )),
  ];
  return (
    <Panel title="Routes" {...(names.length > 0 && { actions: add })}>
      <Problem error={removal.error} />
      <DataTable
        items={names}
        keyOf={(name) => name}
        columns={columns}
        empty={
          <Empty icon="models" title="No routes" action={add}>
            A route is a name for several models: when the first cannot answer, the next one does.
          </Empty>
        }
      />
      {editing !== null && (
        <RouteForm
          name={editing}
          route={routes[editing] ?? []}
          taken={names.filter((name) => name !== editing)}
          onClose={() => setEditing(null)}
          onSave={async (name, route) => {
            await send({ ...without(editing), [name]: route });
            showToast("Route saved");
          }}
        />
      )}
    </Panel>
  );
}
