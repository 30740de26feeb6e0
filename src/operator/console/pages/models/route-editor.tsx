import { useState } from "preact/hooks";
import { addRoute, changeRoute, deleteRoute, readRoute } from "../../api/routes.ts";
import type { StoredRoute } from "../../api/settings.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { LoadedForm } from "../../ui/forms/loaded-form.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { Panel } from "../../ui/page.tsx";
import { actionColumn, type Column } from "../../ui/tables/data-table.tsx";
import { PagedTable } from "../../ui/tables/paged-table.tsx";
import { TestButton } from "../../ui/test-button.tsx";
import { showToast, showUndoToast } from "../../ui/toasts.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { RouteForm } from "./route-form.tsx";
import { summarizeRoute } from "./route-text.ts";
import { texts } from "./texts.ts";

type Routes = Readonly<Record<string, StoredRoute>>;

interface RouteEditorProps {
  readonly routes: Routes;
  /** Names of models to choose from. */
  readonly models: readonly string[];
  readonly reload: () => Promise<void>;
}

/** Editor for model routes: names that may resolve to several models. */
export function RouteEditor({ routes, models, reload }: RouteEditorProps) {
  const [editing, setEditing] = useState<string | null>(null);
  const removal = useAsyncAction();
  const remove = (name: string) =>
    removal.run(async () => {
      const undo = await deleteRoute(name);
      if (undo === null) showToast(texts.routeRemoved);
      else showUndoToast(texts.routeRemoved, undo, reload);
      await reload();
    });
  const close = () => setEditing(null);
  const saved = async () => {
    showToast(texts.routeSaved);
    await reload();
  };
  const others = (name: string) => Object.keys(routes).filter((other) => other !== name);
  const names = Object.keys(routes).sort();
  const add = (
    <Button needs="operator" onClick={() => setEditing("")}>
      {texts.addRoute}
    </Button>
  );
  const columns: Column<string>[] = [
    { title: texts.requestedName, class: "mono", cell: (name) => <TruncatedText text={name} /> },
    {
      title: words.models,
      class: "mono long",
      cell: (name) => <TruncatedText text={summarizeRoute(routes[name] ?? [])} />,
    },
    actionColumn((name) => (
      <>
        <TestButton label={texts.testRoute(name)} findModel={async () => name} />
        <Button kind="quiet" needs="operator" label={texts.editRoute(name)} onClick={() => setEditing(name)}>
          {words.edit}
        </Button>
        <Button
          kind="quiet"
          needs="operator"
          label={texts.removeRoute(name)}
          onClick={() => void remove(name)}
        >
          {words.remove}
        </Button>
      </>
    )),
  ];
  return (
    <Panel title={texts.routes} {...(names.length > 0 && { actions: add })}>
      <Problem error={removal.error} />
      <PagedTable
        rows="few"
        items={names}
        keyOf={(name) => name}
        columns={columns}
        empty={
          <Empty icon="models" title={texts.noRoutes} action={add}>
            {texts.noRoutesHint}
          </Empty>
        }
      />
      {editing === "" && (
        <RouteForm
          name=""
          route={[]}
          strategy="order"
          models={models}
          taken={names}
          onClose={close}
          onSave={addRoute}
          onSaved={saved}
        />
      )}
      {editing !== null && editing !== "" && (
        <LoadedForm
          key={editing}
          title={texts.changeRoute}
          read={() => readRoute(editing)}
          onClose={close}
          form={({ name, models: route, strategy }, version) => (
            <RouteForm
              name={name}
              route={route}
              strategy={strategy}
              models={models}
              taken={others(name)}
              version={version}
              onClose={close}
              onSave={(route, ifMatch) => changeRoute(name, route, ifMatch)}
              onSaved={saved}
            />
          )}
        />
      )}
    </Panel>
  );
}
