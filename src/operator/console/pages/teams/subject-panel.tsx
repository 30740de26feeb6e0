import {
  deleteSubject,
  eraseUserData,
  readSubject,
  type Subject,
  type SubjectList,
} from "../../api/subjects.ts";
import { formatHref } from "../../routing.ts";
import { EraseData } from "../../shared/erase-data.tsx";
import { LimitBars } from "../../shared/limit-bars.tsx";
import { listLimitUse } from "../../shared/limit-use.ts";
import { texts as sharedTexts } from "../../shared/texts.ts";
import { Empty } from "../../ui/empty.tsx";
import { AddButton, EditButtons, EditDialogs, type Editing } from "../../ui/forms/editing.tsx";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { Panel } from "../../ui/page.tsx";
import { actionColumn, type Column, DataTable } from "../../ui/tables/data-table.tsx";
import { Pager } from "../../ui/tables/pager.tsx";
import { SearchBox } from "../../ui/tables/search-box.tsx";
import { usePaging } from "../../ui/tables/use-paging.ts";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { searchSubjects } from "./search-subjects.ts";
import { SubjectForm } from "./subject-form.tsx";
import { texts } from "./texts.ts";

const PAGE_SIZES = [25, 50, 200] as const;

/** What is used of the limits of an entry. */
function SubjectLimits({ subject }: { readonly subject: Subject }) {
  const uses = listLimitUse(subject);
  const { models } = subject;
  return (
    <>
      <LimitBars uses={uses} unpricedModels={subject.unpriced_models} />
      {models.length > 0 && (
        <div>
          <TruncatedText text={texts.models(models.join(", "))} />
        </div>
      )}
      {uses.length === 0 && models.length === 0 && texts.noLimits}
    </>
  );
}

/** Links from an entry to its keys and its usage. */
function SubjectLinks({ list, subject }: { readonly list: SubjectList; readonly subject: Subject }) {
  const { id, name, keys } = subject;
  const label = name || id;
  const count = texts.keyCount(keys);
  const kind = list === "teams" ? "team" : list === "users" ? "user" : "tag";
  const usage = formatHref("usage", "", new URLSearchParams({ by: "model", [kind]: id }).toString());
  return (
    <>
      {list !== "tags" && keys > 0 && (
        <div>
          <a
            href={formatHref("keys", "", new URLSearchParams({ q: id }).toString())}
            aria-label={texts.keysOf(count, label)}
          >
            {count}
          </a>
        </div>
      )}
      {list !== "tags" && keys === 0 && <div>{count}</div>}
      <a href={usage} aria-label={texts.usageOf(label)}>
        {words.usage}
      </a>
    </>
  );
}

interface SubjectPanelProps {
  readonly list: SubjectList;
  /** null: not loaded yet. */
  readonly subjects: readonly Subject[] | null;
  /** Why they could not be loaded; empty: they could. */
  readonly error: string;
  readonly reload: () => Promise<void>;
  readonly editing: Editing<Subject>;
}

/** The teams, the users or the tags, with what they have used of their limits. */
export function SubjectPanel({ list, subjects, error, reload, editing }: SubjectPanelProps) {
  const paging = usePaging(PAGE_SIZES[2]);
  const noun = texts.nouns[list];
  const add = <AddButton noun={noun} onClick={editing.add} />;
  const columns: Column<Subject>[] = [
    {
      title: words.name,
      cell: ({ id, name, remark }) => (
        <>
          <strong>
            <TruncatedText text={name || id} />
          </strong>
          {name !== "" && (
            <div class="mono muted">
              <TruncatedText text={id} />
            </div>
          )}
          {remark !== "" && (
            <div class="muted">
              <TruncatedText text={remark} />
            </div>
          )}
        </>
      ),
    },
    {
      title: list === "tags" ? words.usage : texts.keys,
      cell: (subject) => <SubjectLinks list={list} subject={subject} />,
    },
    { title: texts.limits, class: "muted", cell: (subject) => <SubjectLimits subject={subject} /> },
    { title: texts.history, class: "muted", cell: ({ history }) => sharedTexts.historyModes[history] },
    actionColumn((subject) => (
      <>
        {list === "users" && (
          <EraseData name={subject.name || subject.id} erase={() => eraseUserData(subject.id)} />
        )}
        <EditButtons editing={editing} item={subject} />
      </>
    )),
  ];
  const all = subjects ?? [];
  const found = searchSubjects(all, paging.query);
  return (
    <div class="stack">
      {all.length > 0 && <p class="muted">{texts.leads[list]}</p>}
      <LoadState data={subjects} error={error} reload={reload} />
      {all.length > 0 && (
        <div class="toolbar">
          <SearchBox label={texts.search} value={paging.query} onSearch={paging.search} />
        </div>
      )}
      {subjects !== null && (
        <Panel>
          <DataTable
            items={found.slice((paging.page - 1) * paging.size, paging.page * paging.size)}
            keyOf={({ id }) => id}
            columns={columns}
            class="keys-table"
            empty={
              all.length === 0 ? (
                <Empty icon="teams" title={texts.emptyTitles[list]} action={add}>
                  {texts.leads[list]}
                </Empty>
              ) : (
                <p class="muted">{texts.noMatch}</p>
              )
            }
          />
        </Panel>
      )}
      {found.length > paging.size && (
        <Pager
          paging={paging}
          pages={Math.ceil(found.length / paging.size)}
          sizes={PAGE_SIZES}
          total={texts.count(found.length)}
        />
      )}
      <EditDialogs
        editing={editing}
        noun={noun}
        form={(subject, props) => <SubjectForm list={list} subject={subject} {...props} />}
        read={({ id }) => readSubject(list, id)}
        remove={({ id }) => deleteSubject(list, id)}
        warning={({ id, name }) => <>{texts.deletionWarning(<strong>{name || id}</strong>)}</>}
      />
    </div>
  );
}
