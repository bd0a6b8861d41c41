# Makes the template units cairnd@.service, cairnd@.socket and cairnd-metrics@.socket of the plain ones, so that what is said of
# one holds for the other. An instance NAME has everything for itself: /etc/cairn-NAME/cairnd.yaml,
# /var/lib/cairn-NAME and /run/cairnd-NAME/control. Siblings, not folders inside each other: systemd
# cannot keep state folders of dynamic users inside one another.
s|^Description=.*|& (%i)|
s|/etc/cairn/|/etc/cairn-%i/|
s|/run/cairnd/|/run/cairnd-%i/|
s|^StateDirectory=cairn$|&-%i|
s|^ConfigurationDirectory=cairn$|&-%i|
s|^RuntimeDirectory=cairnd$|&-%i|
s|^Also=cairnd.socket$|Also=cairnd@%i.socket|
s|^Service=cairnd.service$|Service=cairnd@%i.service|
s|cairnd-metrics.socket|cairnd-metrics@NAME.socket|
s|systemctl stop cairnd && systemctl start \(.*\) cairnd$|systemctl stop cairnd@NAME \&\& systemctl start \1 cairnd@NAME|
s|systemctl edit cairnd$|systemctl edit cairnd@NAME|
# The place of the socket is the unit's: the configuration of an instance may leave it out.
s|cairnd --config .*|& --set control.socket=/run/cairnd-%i/control|
