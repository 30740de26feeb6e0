import { listSubjects, type Subject } from "../../api/subjects.ts";
import { GuardrailChoices } from "../../shared/guardrail-choices.tsx";
import { type Choice, SelectField, TextField } from "../../ui/forms/field.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { texts } from "./texts.ts";

/** A longer list is no choice: its ids are typed. */
const MAX_CHOICES = 500;

/** What a key belongs to, and the rules that check its requests. */
export interface Membership {
  /** Ids; empty: none. */
  readonly team: string;
  readonly user: string;
  readonly guardrails: readonly string[];
}

interface SubjectFieldProps {
  readonly label: string;
  readonly path: string;
  /** The choice of none. */
  readonly none: string;
  readonly subjects: readonly Subject[];
  readonly value: string;
  readonly onChange: (id: string) => void;
}

/** Field for the team or the user of a key. */
function SubjectField({ none, subjects, value, onChange, ...field }: SubjectFieldProps) {
  if (subjects.length > MAX_CHOICES)
    return <TextField {...field} hint={texts.idOrNothing} value={value} onChange={onChange} mono />;
  const known: readonly Choice[] = subjects.map(({ id, name }) => [id, name === "" ? id : `${name} (${id})`]);
  const isListed = value === "" || known.some(([id]) => id === value);
  const choices: readonly Choice[] = [["", none], ...known, ...(isListed ? [] : [[value, value] as const])];
  return <SelectField {...field} value={value} onChange={onChange} choices={choices} />;
}

interface MembershipFieldsProps {
  readonly membership: Membership;
  readonly onChange: (membership: Membership) => void;
}

/** Form fields for the team and the user of a key, and for the guardrails that only some keys have. */
export function MembershipFields({ membership, onChange }: MembershipFieldsProps) {
  const { data } = useLoaded(async (signal) => {
    const [teams, users] = await Promise.all([listSubjects("teams", signal), listSubjects("users", signal)]);
    return { teams: teams.items, users: users.items };
  });
  const { team, user, guardrails } = membership;
  return (
    <>
      <div class="limit-grid">
        <SubjectField
          label={texts.team}
          path="team"
          none={texts.noTeam}
          subjects={data?.teams ?? []}
          value={team}
          onChange={(id) => onChange({ ...membership, team: id })}
        />
        <SubjectField
          label={texts.user}
          path="user"
          none={texts.noUser}
          subjects={data?.users ?? []}
          value={user}
          onChange={(id) => onChange({ ...membership, user: id })}
        />
      </div>
      <GuardrailChoices
        chosen={guardrails}
        onChange={(chosen) => onChange({ ...membership, guardrails: chosen })}
      />
    </>
  );
}
