/** Probe and monitoring data for the process. */
export interface Monitoring {
	/** Tests the database and the compiler. Resolves quickly even if they do not respond. */
	readonly probe: () => Promise<{ readonly database: boolean; readonly compiler: boolean }>;
	/** Program version. */
	readonly version: string;
	/** Renders the process metrics as text. The content type is `type`. */
	readonly render: () => Promise<string>;
	readonly type: string;
	/** True if anyone may read the metrics. */
	readonly open: boolean;
}
