import { getMemberText, setMember } from "../../../core/encoding/json-splice.ts";
import {
  hasMemberAt,
  hasMemberInText,
  parseMemberPath,
  removeMemberFromText,
  withoutMemberAt,
} from "../../../core/encoding/member-path.ts";
import { OPTIONAL_MEMBERS, type OptionalMember } from "./optional-members.ts";

/** A field that not every backend supports, and how to change a request so that it works without the field. */
export interface FieldRule<Request> {
  /** The name of the field. Several rules may concern one field. */
  readonly name: string;
  /** Matches a rejection that names the field. */
  readonly rejectionPattern: RegExp;
  readonly isPresent: (request: Request, rejection: string) => boolean;
  readonly remove: (request: Request, rejection: string) => Request;
  /** The rejection applies to this request only and is not remembered. */
  readonly isTransient?: true;
  /** The caller did not ask for the field, or gets the same in another way. Its absence is not reported. */
  readonly isUnreported?: true;
}

/** A request whose body is a JSON text that the caller wrote. */
export interface RequestText {
  readonly text: string;
}

const UNREPORTED = { isUnreported: true } as const;

/** The rules for a request that the gateway has translated. */
interface TranslatedRule extends Omit<FieldRule<object>, "remove"> {
  readonly remove: <Request extends object>(request: Request) => Request;
}

function translatedRule(member: OptionalMember): TranslatedRule {
  const { newName, isGatewayChoice } = member;
  const path = parseMemberPath(member.path);
  return {
    name: member.path,
    rejectionPattern: member.translatedPattern ?? member.rejectionPattern,
    isPresent: (request) => hasMemberAt(request, path),
    remove: (request) => {
      const changed = withoutMemberAt(request, path);
      if (newName !== undefined) Reflect.set(changed, newName, Reflect.get(request, member.path));
      return changed;
    },
    ...(isGatewayChoice === undefined && newName === undefined ? {} : UNREPORTED),
  };
}

/** The rules for a request in the backend's own protocol. */
interface NativeRule extends Omit<FieldRule<RequestText>, "remove"> {
  readonly remove: <Request extends RequestText>(request: Request) => Request;
}

function nativeRule(member: OptionalMember): NativeRule {
  const { newName, rejectionPattern } = member;
  const path = parseMemberPath(member.path);
  return {
    name: member.path,
    rejectionPattern,
    isPresent: ({ text }) => hasMemberInText(text, path),
    remove: (request) => {
      const text = removeMemberFromText(request.text, path);
      const value = getMemberText(request.text, path) ?? "null";
      return { ...request, text: newName === undefined ? text : setMember(text, newName, value) };
    },
    ...(newName === undefined ? {} : UNREPORTED),
  };
}

/** The rules of the table for requests that the gateway has translated. */
export const TRANSLATED_RULES: readonly TranslatedRule[] = OPTIONAL_MEMBERS.filter(
  ({ onlyOn }) => onlyOn !== "native",
).map(translatedRule);

/** The rules of the table for requests in the backend's own protocol. */
export const NATIVE_RULES: readonly NativeRule[] = OPTIONAL_MEMBERS.filter(
  ({ onlyOn }) => onlyOn !== "translated",
).map(nativeRule);
