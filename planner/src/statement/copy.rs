//! COPY table FROM 'file'.

use super::{Session, column_of};
use crate::text::{Source, folded, object_name};
use gingham_plan::{CopyFrom, SqlError, Statement};
use sqlparser::ast::{CopyLegacyOption, CopyOption, CopySource, CopyTarget};

/// What the parser makes of COPY.
pub(crate) struct CopyParts {
    pub(crate) source: CopySource,
    pub(crate) to: bool,
    pub(crate) target: CopyTarget,
    pub(crate) options: Vec<CopyOption>,
    pub(crate) legacy_options: Vec<CopyLegacyOption>,
}

impl Session<'_> {
    /// Names are looked up here, so that errors have their position.
    pub(super) fn copy(&self, parts: CopyParts, source: &Source) -> Result<Statement, SqlError> {
        let CopyTarget::File { filename: path } = parts.target else {
            return Err(SqlError::unsupported("COPY from or to anything but a file"));
        };
        let CopySource::Table { table_name, columns } = parts.source else {
            return Err(SqlError::unsupported("COPY of a query"));
        };
        if parts.to {
            return Err(SqlError::unsupported("COPY TO"));
        }
        if !parts.legacy_options.is_empty() {
            return Err(SqlError::unsupported("this form of COPY").hint("write options as WITH (FORMAT csv, …)"));
        }
        let (_, table) = self.table(&table_name, source)?;
        let columns: Vec<String> = columns.iter().map(folded).collect();
        columns.iter().try_for_each(|name| column_of(table, name, source).map(|_| ()))?;
        let mut copy = CopyFrom {
            table: object_name(&table_name)?,
            columns: (!columns.is_empty()).then_some(columns),
            path,
            header: true,
            delimiter: b',',
            null: String::new(),
        };
        for option in parts.options {
            match option {
                CopyOption::Format(format) if format.value.eq_ignore_ascii_case("csv") => {}
                CopyOption::Header(header) => copy.header = header,
                CopyOption::Null(null) => copy.null = null,
                CopyOption::Delimiter(delimiter) if delimiter.is_ascii() && !"\"\r\n".contains(delimiter) => {
                    copy.delimiter = delimiter as u8;
                }
                CopyOption::Quote('"') | CopyOption::Escape('"') => {}
                CopyOption::Encoding(encoding)
                    if ["utf8", "utf-8"].iter().any(|known| encoding.eq_ignore_ascii_case(known)) => {}
                other => return Err(SqlError::unsupported(format!("COPY with {other}"))),
            }
        }
        Ok(Statement::CopyFrom(copy))
    }
}
