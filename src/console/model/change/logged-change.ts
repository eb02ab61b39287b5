/** State of an object in the change log. */
export type LoggedRecord = Readonly<Record<string, unknown>>;

/** Change in the change log. */
export interface LoggedChange {
	readonly kind: string;
	readonly operation: 'create' | 'update' | 'delete';
	readonly key: string;
	readonly before: LoggedRecord | null;
	readonly after: LoggedRecord | null;
}
