import { isRecord } from '../equal-json.js';
import { listMember, textMember, type Value } from '../matrix/value-members.js';

/** Returns the roles to whose sets of users a role can be assigned, as `<resource>:<role>`. */
export function readGrantableTo(role: Value): readonly string[] {
	return listMember(role, 'grantable_to')
		.filter(isRecord)
		.map((set) => `${textMember(set, 'on_resource')}:${textMember(set, 'role')}`);
}
