/** Names of instances in the data document: `<type>:<key>`. */

/** An instance by its parts. */
export interface InstanceName {
	readonly type: string;
	readonly key: string;
}

/** The name of an instance. */
export function nameOf({ type, key }: InstanceName): string {
	return `${type}:${key}`;
}

/** The resource type in the name of an instance. */
export function typeOf(instance: string): string {
	return instance.slice(0, instance.indexOf(':'));
}

/** The parts of the name of an instance: keys of types hold no colon. */
export function partsOf(instance: string): InstanceName {
	const colon = instance.indexOf(':');
	return { type: instance.slice(0, colon), key: instance.slice(colon + 1) };
}
