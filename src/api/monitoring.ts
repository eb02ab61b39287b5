/** The answers of the process to probes and monitoring. */
export interface Monitoring {
	/** Whether the database and the compiler work. Resolves soon, even when they hang. */
	readonly probe: () => Promise<{ readonly database: boolean; readonly compiler: boolean }>;
	/** The version of the program. */
	readonly version: string;
	/** Renders the metrics of the process as text. Its content type is `type`. */
	readonly render: () => Promise<string>;
	readonly type: string;
	/** Whether anyone may read the metrics. */
	readonly open: boolean;
}
