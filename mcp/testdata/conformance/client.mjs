// The official TypeScript client, pinned to one revision: discover, list, call. It prints what it saw as JSON.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(process.env.TERMIC_CONFORMANCE + '/')
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(require.resolve('@modelcontextprotocol/client')))

const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: process.env.TERMIC_REVISION } } })
const transport = new StreamableHTTPClientTransport(new URL(process.env.TERMIC_URL), {
  requestInit: { headers: { Authorization: `Bearer ${process.env.TERMIC_TOKEN}` } },
})
try {
  await client.connect(transport)
  const { tools } = await client.listTools()
  const called = await client.callTool({ name: 'project_list', arguments: {} })
  const refused = await client.callTool({ name: 'task_status', arguments: { task: 'x' } })
  const unknown = await client.callTool({ name: 'nö tool', arguments: {} }).catch((e) => ({ code: e.code }))
  console.log(JSON.stringify({
    revision: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion(),
    tools: tools.map((t) => t.name),
    called: called.structuredContent,
    refused: refused.isError,
    unknown: unknown.code,
  }))
  await client.close()
} catch (e) {
  console.log(JSON.stringify({ failed: String(e), code: e.code }))
}
