/** What probes and monitoring are told of the process. */
export interface Monitoring {
	/** Whether the parts answer that the API needs. Resolves soon, whatever they do. */
	readonly probe: () => Promise<{ readonly database: boolean; readonly compiler: boolean }>;
	/** The version of the program. */
	readonly version: string;
	/** The numbers of the process, as text of this content type. */
	readonly render: () => Promise<string>;
	readonly type: string;
	/** Whether anyone may read the numbers. */
	readonly open: boolean;
}
