import {
  type Administrator,
  deleteAdministrator,
  listAdministrators,
  readAdministrator,
} from "../../api/administrators.ts";
import { Badge } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { AddButton, EditButtons, EditDialogs, useEditing } from "../../ui/forms/editing.tsx";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Page, Panel } from "../../ui/page.tsx";
import { actionColumn, type Column } from "../../ui/tables/data-table.tsx";
import { PagedTable } from "../../ui/tables/paged-table.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { AdministratorForm } from "./administrator-form.tsx";
import { IdentityProviderForm } from "./identity-provider-form.tsx";
import { texts } from "./texts.ts";

/** How an administrator can sign in. */
function describeSignIn({ has_password, email, oidc_subject }: Administrator): string {
  const identity = oidc_subject || email;
  const ways = [
    has_password ? words.password : "",
    identity === "" ? "" : `${texts.identityProvider} (${identity})`,
  ].filter((way) => way !== "");
  return ways.join(", ") || words.none;
}

/** Page for named administrators, their roles, and the identity provider at which they sign in. */
export function Administrators() {
  const { data, error, reload } = useLoaded(listAdministrators);
  const editing = useEditing<Administrator>(reload);
  const add = <AddButton noun={texts.noun} onClick={editing.add} />;
  const columns: Column<Administrator>[] = [
    {
      title: words.name,
      cell: ({ id, name }) => (
        <>
          <strong>
            <TruncatedText text={name || id} />
          </strong>
          {name !== "" && <div class="mono muted">{id}</div>}
        </>
      ),
    },
    { title: texts.role, cell: ({ role }) => texts.roles[role] },
    {
      title: texts.signsInBy,
      class: "muted long",
      cell: (entry) => <TruncatedText text={describeSignIn(entry)} />,
    },
    {
      title: words.state,
      cell: ({ disabled }) => (
        <Badge tone={disabled ? "neutral" : "good"}>{disabled ? texts.disabled : texts.active}</Badge>
      ),
    },
    actionColumn((entry) => <EditButtons editing={editing} item={entry} />),
  ];
  return (
    <Page title={texts.title} lead={texts.lead} actions={data === null ? undefined : add}>
      <LoadState {...{ data, error, reload }} />
      {data !== null && (
        <>
          <Panel>
            <PagedTable
              items={data.items}
              keyOf={({ id }) => id}
              columns={columns}
              empty={
                <Empty icon="administrators" title={texts.none} action={add}>
                  {texts.noneHint}
                </Empty>
              }
            />
          </Panel>
          <IdentityProviderForm />
        </>
      )}
      <EditDialogs
        editing={editing}
        noun={texts.noun}
        form={(administrator, props) => <AdministratorForm administrator={administrator} {...props} />}
        read={({ id }) => readAdministrator(id)}
        remove={({ id }) => deleteAdministrator(id)}
        warning={({ id, name }) => <>{texts.signedOut(<strong>{name || id}</strong>)}</>}
      />
    </Page>
  );
}
