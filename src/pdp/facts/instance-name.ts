/** Names of instances in the data document: `<type>:<key>`. */

/** An instance by its parts. */
export interface InstanceName {
	readonly type: string;
	readonly key: string;
}

/** The name of an instance. */
export function instanceName({ type, key }: InstanceName): string {
	return `${type}:${key}`;
}

/** The resource type in the name of an instance. */
export function instanceType(instance: string): string {
	return instance.slice(0, instance.indexOf(':'));
}

/** Splits the name of an instance. Keys of types hold no colon. */
export function parseInstanceName(instance: string): InstanceName {
	const colon = instance.indexOf(':');
	return { type: instance.slice(0, colon), key: instance.slice(colon + 1) };
}
