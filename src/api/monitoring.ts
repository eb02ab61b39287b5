/** Probe and monitoring data for the process. */
export interface Monitoring {
	/** Tests the database and the compiler. Resolves soon even if they hang. */
	readonly probe: () => Promise<{ readonly database: boolean; readonly compiler: boolean }>;
	/** Program version. */
	readonly version: string;
	/** Renders the process metrics as text with the content type `type`. */
	readonly render: () => Promise<string>;
	readonly type: string;
	/** True if anyone may read the metrics. */
	readonly open: boolean;
}
