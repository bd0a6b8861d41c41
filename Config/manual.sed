# Makes the manual page cairnd.yaml(5) of the configuration as it is installed, which explains each key.
s/\\/\\e/g
s/-/\\-/g
/^[.']/s/^/\\\&/
1i\
.TH "CAIRND.YAML" "5" "" "Cairn" "Cairn"\
.SH "Name"\
cairnd.yaml \\- the configuration of cairnd\
.SH "Synopsis"\
/etc/cairn/cairnd.yaml, /etc/cairn/cairnd.yaml.d/*.yaml, /usr/lib/cairn/cairnd.yaml\
.SH "Description"\
The files of the folder are laid over the first one in the order of their names, and what\
.B cairnd \\-\\-set\
says over all of them. All keys with their defaults are below.\
.B cairnctl config check\
finds what is wrong in a file,\
.B cairnctl config cat\
shows the configuration in use with the place of each value, and\
.B systemctl reload cairnd\
takes over what has changed.\
.PP\
.nf
$a\
.fi\
.SH "See also"\
cairnd(8), cairnctl(1)
