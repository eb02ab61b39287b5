import { z } from 'zod';

/** Maximum secret length in a request, in characters. */
const maxTokenLength = 16_384;

/** A secret in a request. Problems do not contain its value. */
export const HiddenText = z.string().superRefine((text, ctx) => {
	// Replace the problem's input, because messages contain the input if it is a string.
	if (text.length > maxTokenLength || text === '') ctx.addIssue({ code: 'custom', message: tokenMessage, input: {} });
});
const tokenMessage = `must have 1 to ${maxTokenLength} characters`;
