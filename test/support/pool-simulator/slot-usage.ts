/**
 * An observer outside of the pools: it knows which account each request really uses, and finds slots that more requests
 * use than may.
 */
export class SlotUsage<User = unknown> {
  readonly #perAccount: number;
  readonly #global: number;
  readonly #isPaused: ((user: User) => boolean) | undefined;
  readonly #users = new Map<string, User[]>();
  inUse = 0;
  mostInUse = 0;
  /** Number of times an account had more requests than slots. */
  doubleGrants = 0;
  /** Number of times all accounts together had more requests than the global limit. */
  overLimit = 0;

  /** @param isPaused a user that is stopped cannot end its use, and does not count meanwhile */
  constructor(perAccount: number, global = Number.POSITIVE_INFINITY, isPaused?: (user: User) => boolean) {
    this.#perAccount = perAccount;
    this.#global = global;
    this.#isPaused = isPaused;
  }

  begin(account: string, user: User): void {
    const users = this.#users.get(account);
    if (users === undefined) this.#users.set(account, [user]);
    else users.push(user);
    this.inUse += 1;
    this.mostInUse = Math.max(this.mostInUse, this.inUse);
    if (this.#count(account) > this.#perAccount) this.doubleGrants += 1;
    if (this.#countAll() > this.#global) this.overLimit += 1;
  }

  end(account: string, user: User): void {
    const users = this.#users.get(account) ?? [];
    const index = users.indexOf(user);
    if (index < 0) throw new Error("this user does not use the account");
    users.splice(index, 1);
    this.inUse -= 1;
  }

  /** Checks all accounts: users that were paused count again. */
  check(): void {
    for (const account of this.#users.keys())
      if (this.#count(account) > this.#perAccount) this.doubleGrants += 1;
    if (this.#countAll() > this.#global) this.overLimit += 1;
  }

  #count(account: string): number {
    const users = this.#users.get(account) ?? [];
    const isPaused = this.#isPaused;
    return isPaused === undefined ? users.length : users.filter((user) => !isPaused(user)).length;
  }

  #countAll(): number {
    if (this.#isPaused === undefined) return this.inUse;
    let all = 0;
    for (const account of this.#users.keys()) all += this.#count(account);
    return all;
  }
}
