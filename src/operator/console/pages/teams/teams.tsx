import { SUBJECT_LISTS } from "../../api/subjects.ts";
import { navigateTo } from "../../routing.ts";
import { Page } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { SubjectPanel } from "./subject-panel.tsx";
import { texts } from "./texts.ts";

/** Page for teams, users and tags: what requests share limits. */
export function Teams({ detail }: { readonly detail: string }) {
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Tabs
        label={texts.title}
        current={detail}
        onChange={(list) => navigateTo("teams", list)}
        tabs={SUBJECT_LISTS.map((list) => ({
          id: list,
          name: texts.lists[list],
          content: () => <SubjectPanel key={list} list={list} />,
        }))}
      />
    </Page>
  );
}
