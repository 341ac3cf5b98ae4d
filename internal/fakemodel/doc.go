// Package fakemodel is a model that thinks nothing: one HTTP server on loopback that speaks enough of two model APIs
// for real coding agents to run whole turns against it, so that tests can drive the real programs without a network
// and without cost.
//
// It speaks the Anthropic Messages API (POST .../messages, streamed and plain, and .../messages/count_tokens) and the
// OpenAI Responses API (POST .../responses, streamed and plain). The newest prompt of the user is the script of the
// answer, one step per line:
//
//	CALL tool json   call a tool; the json may be left out. mcp__SERVER__TOOL is found under each client's own spelling
//	SLEEP ms         hold the answer that long
//	HOLD name        hold the answer until Release(name) or the end of the request
//	FAIL status      answer the request with that HTTP status instead
//	SAY text         the last words; {{result}} stands for the text of the newest tool result
//
// Waits apply to the step that follows them. When no CALL is left the answer is the SAY text, or "FINAL: " and the
// newest tool result, or "HELLO".
//
// It promises:
//   - every request is kept, in order, with what a test wants of it taken out: which conversation, which prompts exactly,
//     which tool results; credentials are not kept;
//   - the same requests give the same answers, whatever came before: a step is chosen from the conversation alone;
//   - nothing outlives Close.
//
// It does not cover models' real limits, errors, usage figures, pictures, audio or hosted tools. It is for tests: it
// checks no credentials and listens on loopback alone.
package fakemodel
