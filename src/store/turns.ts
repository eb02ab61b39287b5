/** Something that waits for its turn: work for itself alone, or something that can be taken together with its like. */
type Waiting<Member> =
	| { readonly alone: true; readonly work: () => Promise<void> }
	| { readonly alone: false; readonly member: Member };

/** What `Turns` hands out when members' turn has come: the next of them; `undefined` when none follows directly. */
export type Next<Member> = () => Member | undefined;

/**
 * Makes work of one name follow each other, in the order it came; work of different names runs side by side. Members
 * that wait behind one another are taken together: `together` takes as many as it likes, one at least, and is called
 * again for those it left. It tells members themselves what became of them, and never rejects.
 */
export class Turns<Member = never> {
	readonly #waiting = new Map<string, Waiting<Member>[]>();

	constructor(private readonly together: (name: string, next: Next<Member>) => Promise<void> = async () => {}) {}

	/** Runs `work` when all that came before it under this name has ended, however it ended. Settles as `work` does. */
	take<T>(name: string, work: () => Promise<T>): Promise<T> {
		return new Promise<T>((resolve, reject) => {
			const run = async () => {
				try {
					resolve(await work());
				} catch (error) {
					reject(error);
				}
			};
			this.#wait(name, { alone: true, work: run });
		});
	}

	/** Has `member` taken when all that came before it under this name has been. */
	join(name: string, member: Member): void {
		this.#wait(name, { alone: false, member });
	}

	#wait(name: string, next: Waiting<Member>): void {
		const waiting = this.#waiting.get(name);
		if (waiting !== undefined) {
			waiting.push(next);
			return;
		}
		const queue = [next];
		this.#waiting.set(name, queue);
		void this.#run(name, queue);
	}

	async #run(name: string, queue: Waiting<Member>[]): Promise<void> {
		for (let first = queue[0]; first !== undefined; first = queue[0]) {
			if (first.alone) {
				queue.shift();
				await first.work();
			} else {
				await this.together(name, () => nextMember(queue));
			}
		}
		this.#waiting.delete(name);
	}
}

function nextMember<Member>(queue: Waiting<Member>[]): Member | undefined {
	const [first] = queue;
	if (first === undefined || first.alone) return undefined;
	queue.shift();
	return first.member;
}
