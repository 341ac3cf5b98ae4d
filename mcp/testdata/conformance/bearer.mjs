// Puts the token of the endpoint under test into every request: the suite has no option for that.
import { createRequire } from 'node:module'

const require = createRequire(process.env.TERMIC_CONFORMANCE + '/')
const { getGlobalDispatcher, setGlobalDispatcher } = require('undici')

const withToken = (dispatch) => (options, handler) => {
  const headers = Array.isArray(options.headers)
    ? [...options.headers, 'x-termic-token', process.env.TERMIC_TOKEN]
    : { ...(options.headers ? Object.fromEntries(entries(options.headers)) : {}), 'x-termic-token': process.env.TERMIC_TOKEN }
  return dispatch({ ...options, headers }, handler)
}

const entries = (headers) => (typeof headers[Symbol.iterator] === 'function' ? headers : Object.entries(headers))

setGlobalDispatcher(getGlobalDispatcher().compose(withToken))

// Some scenarios write their headers themselves, through Node's own module.
const http = require('node:http')
const request = http.request
http.request = (...args) => {
  const options = args.find((a) => a && typeof a === 'object' && !(a instanceof URL))
  if (options && Array.isArray(options.headers)) options.headers.push('X-Termic-Token', process.env.TERMIC_TOKEN)
  else if (options) options.headers = { ...options.headers, 'X-Termic-Token': process.env.TERMIC_TOKEN }
  return request(...args)
}
