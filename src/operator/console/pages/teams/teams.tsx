import { listSubjects, SUBJECT_LISTS, type Subject } from "../../api/subjects.ts";
import { navigateTo } from "../../routing.ts";
import { AddButton, useEditing } from "../../ui/forms/editing.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Page } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { SubjectPanel } from "./subject-panel.tsx";
import { texts } from "./texts.ts";

/** How often use is read again, in milliseconds. */
const REFRESH_MS = 15_000;

/** Page for teams, users and tags: what requests share limits. */
export function Teams({ detail }: { readonly detail: string }) {
  const list = SUBJECT_LISTS.find((name) => name === detail) ?? SUBJECT_LISTS[0];
  const { data, error, reload } = useLoaded(
    async (signal) => ({ list, items: (await listSubjects(list, signal)).items }),
    list,
    REFRESH_MS,
  );
  const editing = useEditing<Subject>(reload);
  // Until the entries of a chosen list are loaded, the data is of the list before.
  const subjects = data?.list === list ? data.items : null;
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={<AddButton noun={texts.nouns[list]} onClick={editing.add} />}
    >
      <Tabs
        label={texts.title}
        current={list}
        onChange={(next) => navigateTo("teams", next)}
        tabs={SUBJECT_LISTS.map((id) => ({
          id,
          name: texts.lists[id],
          content: () => <SubjectPanel key={id} {...{ list, subjects, error, reload, editing }} />,
        }))}
      />
    </Page>
  );
}
