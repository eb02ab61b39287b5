/** Maps schema objects to their places in the generated policy, for links from explanations. */

import type { RoleName } from '../cycle.js';
import { literal } from '../rego/literal.js';
import { keyFolder, packagePart } from '../rego/path.js';

/** A rule in the generated policy. */
export interface RulePlace {
	/** Package name without `data.`, as written in the file. */
	readonly package: string;
	/** File path relative to the policy's root. */
	readonly file: string;
	/** Rule or function name. A keyed rule's name includes its key. */
	readonly rule: string;
}

/** Returns the rule that permits an action on a resource type. */
export function actionPlace(resource: string, action: string): RulePlace {
	return {
		package: `regolith.resources${packagePart(resource).text}`,
		file: `regolith/resources/${keyFolder(resource)}/permits.rego`,
		rule: `permits[${literal(action)}]`,
	};
}

/** Returns the rule that grants an action on a resource type by condition sets. */
export function setRulesPlace(resource: string, action: string): RulePlace {
	return {
		package: `regolith.set_rules${packagePart(resource).text}${packagePart(action).text}`,
		file: `regolith/set_rules/${keyFolder(resource)}/${keyFolder(action)}/granted.rego`,
		rule: 'granted',
	};
}

/** Returns the rule for holding a role on an instance. It calls the functions in `roleFile`. */
export function rolePlace({ type, role }: RoleName): RulePlace {
	return {
		package: `regolith.instances${packagePart(type).text}`,
		file: `regolith/instances/${keyFolder(type)}/holds.rego`,
		rule: `holds[${literal(role)}]`,
	};
}

/** Returns the file for a role on instances, with a body for each way to hold it. */
export function roleFile({ type, role }: RoleName): string {
	return `regolith/roles/${keyFolder(type)}/${keyFolder(role)}/held.rego`;
}
