// Package inlet is what stands before every HTTP listener of the app, whoever may come in there: the count of connections,
// what each caller has under way, the wait after a wrong token, and the reading of bodies.
//
// It promises that everything is bounded, and that neither idle clients, nor slow strangers, nor whoever guesses tokens keeps
// a caller with a right token out. It does not cover who a caller is and what is answered.
package inlet
