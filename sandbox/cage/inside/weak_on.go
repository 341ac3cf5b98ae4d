//go:build weakcage

package inside

const weakenable = true
