package main

import (
	"pmx/engine"
	"pmx/http/acme"
)

// acmeFlags say which certificates are ordered, and from which authority.
type acmeFlags struct {
	ACMEDomain    []string `name:"acme-domain" help:"Order and renew a TLS certificate for this host name, by ACME; may be repeated. Clients and the authority must be able to reach the server under this name on port 443. By using this flag you agree to the terms of the authority." placeholder:"HOST"`
	ACMEEmail     string   `name:"acme-email" help:"E-mail address for messages of the authority about the certificates." placeholder:"ADDRESS"`
	ACMEDirectory string   `name:"acme-directory" help:"ACME directory of the authority, an https:// URL. The default is Let's Encrypt." default:"${acme}" placeholder:"URL"`
}

// orders returns what a server with this data directory is to order.
func (f *acmeFlags) orders(dir engine.Dir) acme.Config {
	return acme.Config{Domains: f.ACMEDomain, Email: f.ACMEEmail, Directory: f.ACMEDirectory, Dir: dir.Certificates()}
}
